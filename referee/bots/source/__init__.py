"""What an author hands in: bot.toml, kinds of programs, trees of files."""
