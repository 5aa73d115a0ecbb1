"""Killed, cut off, filled up, stopped: whatever happens to a tournament, it ends as if nothing had."""
