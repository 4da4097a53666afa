"""Fixtures that several test modules share; they are defined in tiny_models.py."""

from tiny_models import base, bases, reward_folder, tiny_gemma, trained

__all__ = ["base", "bases", "reward_folder", "tiny_gemma", "trained"]
