"""How models are run: rows and batches, shared prompts, precision, servers."""
