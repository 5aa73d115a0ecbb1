"""What a round is: keys, seating, schedule, conditions."""
