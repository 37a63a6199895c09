"""Where policy code runs: checked first, then in a Monty worker with limits, step by step."""
