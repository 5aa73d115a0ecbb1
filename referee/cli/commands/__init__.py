"""The commands: each parses its options, makes one call and prints."""
