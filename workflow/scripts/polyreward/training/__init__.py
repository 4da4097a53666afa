"""Training with TRL: reward models and policies, resumable, in one process or several."""
