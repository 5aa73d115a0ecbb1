"""Which games a round still needs, and which bots are withdrawn."""
