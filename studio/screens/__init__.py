"""Screens of the studio."""
