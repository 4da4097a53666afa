"""What moves a reward model's score: rewrites of right answers, and other languages."""
