"""Sources of models and data: packages, the hub, folders, templates."""
