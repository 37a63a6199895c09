"""The database: skills and runs. Knows SQLAlchemy, nothing of agents, worlds or screens."""
