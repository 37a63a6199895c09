"""Alembic migrations: appended, never edited."""
