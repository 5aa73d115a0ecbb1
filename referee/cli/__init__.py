"""Arguments in, words and exit codes out; one command a file."""
