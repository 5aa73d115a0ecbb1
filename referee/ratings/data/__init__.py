"""Games as arrays."""
