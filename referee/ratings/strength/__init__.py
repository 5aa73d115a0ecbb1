"""Bradley-Terry strengths, their errors, and proven ranks."""
