"""What a check reports."""
