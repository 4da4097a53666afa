"""Place quartets, CARB's test of culture: who knows which of four answers is right where."""
