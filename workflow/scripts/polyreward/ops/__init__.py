"""Machines and runs: memory, GPUs, clusters, progress, and checks of what a run left."""
