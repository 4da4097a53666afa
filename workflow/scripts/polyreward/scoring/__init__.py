"""Scoring with any reward model: one interface, three families (classifier, implicit, generative)."""
