"""The terminal studio and its command line. No domain logic lives here."""
