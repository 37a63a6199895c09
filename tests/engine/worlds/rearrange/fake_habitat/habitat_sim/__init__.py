"""A fake of habitat-sim."""

__version__ = "0.3.0"
