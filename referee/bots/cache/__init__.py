"""Prepared copies of bots: making, finding and removing them."""
