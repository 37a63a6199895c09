"""Widgets of the studio, one a file."""
