"""TrueSkill for all games at once."""
