"""CARB: a benchmark of cultural awareness, built from cultures' own references."""
