"""Builds of bots in a sandbox."""
