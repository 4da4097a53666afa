"""CARB's figures."""
