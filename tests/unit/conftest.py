"""Fixtures that several test modules share; they are defined in models.py."""

from models import base, bases, reward_folder, tiny_gemma, trained

__all__ = ["base", "bases", "reward_folder", "tiny_gemma", "trained"]
