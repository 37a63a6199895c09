"""A fake: the original registers its task here."""
