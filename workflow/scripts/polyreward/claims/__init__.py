"""The papers' claims: what they are tested on, and the table of verdicts."""
