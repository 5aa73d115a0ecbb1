"""Tests that may be looked at after every deal."""
