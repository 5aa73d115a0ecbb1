"""A tournament referee for programs that play Four Widows."""

__version__ = "0.1.0"
