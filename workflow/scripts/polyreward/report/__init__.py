"""The page of a scale's results: claims, artifacts beside the printed ones, and how to make each."""
