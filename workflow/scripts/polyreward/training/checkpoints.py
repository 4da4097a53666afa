"""Checkpoints of trainings: where a run keeps them, and which one a run that was killed goes on from."""

import hashlib
import json
import zipfile
from pathlib import Path

from datasets import Dataset

from polyreward.core.logs import announce
from polyreward.core.processes import arrangement, count


def checkpoint_arguments(
    checkpoints: str | Path,
    base_folder: str | Path,
    settings: dict,
    seed: int,
    dataset: Dataset,
) -> dict:
    """Return the arguments that let a trainer write checkpoints.

    They lie in a folder named by all that the run depends on, so that no other run takes them up.

    checkpoints: the folder of that. settings: as from `recorded`."""
    files = sorted(Path(base_folder).glob("*.safetensors"))
    weights = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    content = json.dumps([weights, settings, seed, dataset.to_list(), arrangement()], sort_keys=True)
    name = hashlib.sha256(content.encode()).hexdigest()[:16]
    return {
        "output_dir": str(Path(checkpoints) / name),
        "save_steps": settings["save_every"],
        "save_total_limit": 2,
    }


def train_on(trainer, label: str) -> None:
    """Train to the end, from the last whole checkpoint in the trainer's folder where there is one."""
    checkpoint = last_whole_checkpoint(trainer.args.output_dir, count())
    if checkpoint:
        announce(f"{label}: resumes from {checkpoint.name}")
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def last_whole_checkpoint(folder: str | Path, processes: int = 1) -> Path | None:
    """Return the newest checkpoint that every one of the processes wrote to its end, or None.

    A cut one lacks what a process writes last. For the main process that is trainer_state.json. For another
    it is its state of random numbers, an archive whose end is its table of contents."""
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
