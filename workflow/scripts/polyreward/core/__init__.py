"""What every room stands on: errors, logs, files, tables, seeds, names."""
