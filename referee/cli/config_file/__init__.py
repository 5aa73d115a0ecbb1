"""Tournament files: options in TOML."""
