"""From raw rows to a preference pool, evaluation sets and passages."""
