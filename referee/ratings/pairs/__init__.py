"""Two bots compared, and collusion."""
