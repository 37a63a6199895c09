"""The benchmark: code alone, RL alone, and both together, over training seeds and unseen worlds."""
