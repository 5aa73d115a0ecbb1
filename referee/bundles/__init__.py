"""What an author gets of a game: one seat's side of it as files, and the way back."""
