"""Scoring with any reward model: one interface for all kinds of core/kinds.py."""
