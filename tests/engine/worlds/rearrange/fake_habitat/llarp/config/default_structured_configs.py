"""A fake: the original registers its configuration here."""
