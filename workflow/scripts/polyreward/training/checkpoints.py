"""Checkpoints of trainings: which one a run that was killed goes on from."""

import json
import zipfile
from pathlib import Path


def last_whole_checkpoint(folder: str | Path, processes: int = 1) -> Path | None:
    """Return the newest checkpoint that every one of the processes wrote to its end, or None.

    A cut one has no trainer_state.json, which the main process writes last, or lacks what another process writes last: its
    state of random numbers, an archive whose end is its table of contents."""
    states = [f"rng_state_{number}.pth" for number in range(processes)] if processes > 1 else []
    found = [
        path.parent
        for path in Path(folder).glob("checkpoint-*/trainer_state.json")
        if _parses(path) and all(zipfile.is_zipfile(path.parent / name) for name in states)
    ]
    return max(found, key=lambda path: int(path.name.split("-")[1]), default=None)


def _parses(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")))
    except ValueError:
        return False
