"""Tables, progress and reports on a terminal."""
