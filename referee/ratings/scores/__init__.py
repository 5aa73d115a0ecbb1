"""Mean scores and what they rest on."""
