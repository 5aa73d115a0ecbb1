"""The application: contests, duels, matches and checks, for Python programs and for the command line.

Nothing here prints or parses a command line. What happens is reported to a `Listener`.
"""
