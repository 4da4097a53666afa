"""What a scale is made of: catalogs, languages, the sheet of scorers, their files, registry of artifacts."""
