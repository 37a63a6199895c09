"""Everything that works without a screen: worlds, sandbox, agents, RL and runs."""
