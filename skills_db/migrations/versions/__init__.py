"""One file a migration; the name begins with its number."""
