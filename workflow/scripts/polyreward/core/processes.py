"""The processes that train one model together; a process by itself is its own main one."""

import os


def rank() -> int:
    """Return this process's number among those that train together, from 0."""
    return int(os.environ.get("RANK", 0))


def is_main() -> bool:
    """Return whether this process logs and saves for all."""
    return rank() == 0


def count() -> int:
    """Return the number of processes that train together."""
    return int(os.environ.get("WORLD_SIZE", 1))


def max_over_processes(number: int) -> int:
    """Return the largest number that the processes call this with; all must call it."""
    if count() == 1:
        return number
    from torch import distributed

    numbers = [0] * count()
    distributed.all_gather_object(numbers, number)
    return max(numbers)


def arrangement() -> list[str]:
    """Return how accelerate shares a model between processes, by which checkpoints differ."""
    names = ("WORLD_SIZE", "FSDP_", "ACCELERATE_USE_")
    return sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(names))
