"""Worlds: the seam to everything that can be acted in."""
