"""Which games the next round has."""
