"""Games that lead to chosen positions."""
