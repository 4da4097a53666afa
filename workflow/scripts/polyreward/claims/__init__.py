"""The papers' claims: their evidence, and the table of verdicts."""
