"""The page of a scale's results: claims, artifacts next to the printed ones, and how to make each."""
