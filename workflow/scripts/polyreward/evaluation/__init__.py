"""Reward models on pairs of people's own, without the pipeline."""
