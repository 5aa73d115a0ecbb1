"""Finding out whether a bot keeps to the contract: steps that try it, and a report of what each of them found."""
