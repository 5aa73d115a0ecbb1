"""Results in, ratings with their uncertainty out; pure functions of the set of games."""
