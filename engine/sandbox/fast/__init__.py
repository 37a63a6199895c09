"""The second executor: checked and approved code, translated to Python generators in-process."""
