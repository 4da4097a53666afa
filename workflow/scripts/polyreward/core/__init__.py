"""What every part builds on: errors, logs, files, tables, seeds, names."""
