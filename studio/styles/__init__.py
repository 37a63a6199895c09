"""Style sheets and themes of the studio."""
