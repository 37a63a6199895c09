"""Crafter's rules compiled and batched, for training: frame by frame the same game, but quicker."""
