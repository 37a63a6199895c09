"""The four agents through a language model: a prompt file, a typed answer, a check, a retry."""
