"""What a scale makes: its settings, the registry of artifacts, and where files lie."""
