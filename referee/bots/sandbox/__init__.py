"""How bots are kept apart from the machine and from each other."""
