"""From a folder of bots to processes that answer questions."""
