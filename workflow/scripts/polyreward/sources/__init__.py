"""Where models and data come from: packages, the hub, folders, templates."""
