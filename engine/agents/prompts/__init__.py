"""The prompts of the language model agents, one file each, filled in by `render`."""
