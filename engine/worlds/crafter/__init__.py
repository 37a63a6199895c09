"""The public Crafter benchmark (package `crafter` 1.8.3), made deterministic."""
