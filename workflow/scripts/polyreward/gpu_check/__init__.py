"""A scale's own jobs, tried small on the device on which it will run."""
