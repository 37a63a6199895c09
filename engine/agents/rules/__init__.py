"""Agents without a model: backward chaining over recipes, code composed from behaviours."""
