"""Isolation of bots from the machine and from each other."""
