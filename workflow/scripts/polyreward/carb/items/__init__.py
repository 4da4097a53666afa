"""CARB's items, from references to the benchmark."""
