"""A running bot process: its limits, environment, pipes and process group, and pondering."""
