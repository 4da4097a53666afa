"""Every patch of torch, transformers and TRL that makes a CPU faster."""
