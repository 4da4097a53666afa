"""What a scale takes before anything is spent."""
