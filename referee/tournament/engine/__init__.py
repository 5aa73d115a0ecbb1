"""Playing blocks of games on this machine."""
