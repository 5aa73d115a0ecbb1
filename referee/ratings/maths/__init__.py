"""Distributions and intervals."""
