"""LLaRP: a frozen language model that is itself the policy, trained by RL (arXiv 2310.17722)."""
