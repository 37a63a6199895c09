"""The task planner, the slow agent, the fast agent and the critic, behind protocols."""
