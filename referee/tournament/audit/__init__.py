"""Checking the games of a database, and merging databases."""
