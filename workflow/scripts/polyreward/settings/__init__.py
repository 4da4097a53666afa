"""The settings: one class for each section of config.yaml."""
