"""The wire contract between the referee and bots: what an author in any language needs."""
