"""The bot under test and what it was sent."""
