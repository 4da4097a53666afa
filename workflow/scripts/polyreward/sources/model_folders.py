"""Folders of models from elsewhere: which of their files are loaded."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from polyreward.core.errors import UnavailableError
from polyreward.core.files import other_content

# Low-rank adapters. Next to whole weights they are left over from a merge, and transformers would apply them
# once more.
ADAPTERS = "adapter_*"
CONFIGS = ("config.json", "adapter_config.json")


def is_adapter(path: Path) -> bool:
    """Return whether a file belongs to a low-rank adapter."""
    return path.match(ADAPTERS)


def has_whole_weights(folder: Path) -> bool:
    """Return whether a folder holds weights that are not an adapter's."""
    return any(path.suffix == ".safetensors" and not is_adapter(path) for path in folder.iterdir())


def check_files(folder: Path) -> None:
    """Raise UnavailableError where a model's file is something else, such as a Git LFS pointer."""
    for path in sorted(folder.iterdir()):
        if path.suffix in (".safetensors", ".json", ".model") and path.is_file():
            with open(path, "rb") as stream:
                other = other_content(stream.read(32))
            if other:
                raise UnavailableError(f"{path}: {other}")


def folder_problem(folder: Path) -> str | None:
    """Say what a folder is that holds no whole model, and what to do; None where it may hold one."""
    if (folder / "adapter_config.json").is_file():
        if (folder / "config.json").is_file() and has_whole_weights(folder):
            return None
        adapter = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        base = adapter.get("base_model_name_or_path")
        return (
            f"{folder}: holds only an adapter (of {base}); merge it into its base (peft's merge_and_unload),"
            " save the model and its tokenizer to one folder, and name that"
        )
    if (folder / "config.json").is_file():
        return None
    below = sorted({path.parent.name for name in CONFIGS for path in folder.glob(f"*/{name}")})
    if below:
        listed = f"{', '.join(below[:9])}{', ...' if len(below) > 9 else ''}"
        return f"{folder}: is no model folder, but has some in it: {listed}; name one of these"
    return f"{folder}: is no model folder (no config.json in it); correct the path"


@contextlib.contextmanager
def without_adapter(folder: str | Path) -> Iterator[Path]:
    """Yield a folder without an adapter next to whole weights: the given one, or one of links to its files.

    Raises:
        UnavailableError: the folder holds only an adapter.
    """
    folder = Path(folder)
    if not (folder / "adapter_config.json").is_file():
        yield folder
        return
    problem = folder_problem(folder)
    if problem:
        raise UnavailableError(problem)
    with tempfile.TemporaryDirectory(prefix="polyreward-") as links:
        for path in folder.iterdir():
            if not is_adapter(path):
                (Path(links) / path.name).symlink_to(path.resolve())
        yield Path(links)
