"""A bot at the table: the player, the wire protocol, faults and their diagnosis, transcripts."""
