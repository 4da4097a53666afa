"""Presentation of results: tables, figures, notebooks."""
