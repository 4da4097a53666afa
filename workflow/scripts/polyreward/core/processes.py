"""The processes that train one model together; a process that nothing launched beside others is the main and
only one."""

import os


def rank() -> int:
    """Return the number of this process among those that train together, from 0."""
    return int(os.environ.get("RANK", 0))


def is_main() -> bool:
    """Return whether this process is the one that speaks and saves for all."""
    return rank() == 0


def count() -> int:
    """Return how many processes train together."""
    return int(os.environ.get("WORLD_SIZE", 1))


def most(number: int) -> int:
    """Return the largest of the numbers that the processes call this with, all of them at once."""
    if count() == 1:
        return number
    from torch import distributed

    numbers = [0] * count()
    distributed.all_gather_object(numbers, number)
    return max(numbers)


def arrangement() -> list[str]:
    """Return how the processes share a model, as accelerate's launcher tells them: the form of a checkpoint
    depends on it."""
    prefixes = ("FSDP_", "ACCELERATE_USE_")
    return sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name == "WORLD_SIZE" or name.startswith(prefixes)
    )
