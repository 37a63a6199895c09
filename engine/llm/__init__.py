"""The one road to a language model: OpenAI-compatible servers, budgets, a record of calls."""
