"""What a tournament owes, and playing it."""
