"""Where policy code runs: checked first, then in a Monty worker with limits, step by step.

Code that a person approved may run faster beside the learner (`engine.sandbox.fast`), where it fits
a smaller language and the person allows it.
"""
