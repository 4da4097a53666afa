"""What rewardbench needs to run beside polyreward: a virtual environment, and copies of a model and of pairs
as it reads them."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from polyreward.core.conversations import as_messages
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_jsonl, write_text

TORCH = "torch==2.13.0"  # polyreward's own, and first: which of its builds is right depends on the machine
REQUIREMENTS = Path(__file__).parent / "rewardbench_requirements.txt"


def ready_environment(folder: Path) -> Path:
    """Return the Python of rewardbench's virtual environment, making it when it is missing."""
    python = folder.absolute() / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"making {folder} (2 GB, a few minutes)", file=sys.stderr)
        venv.create(folder, with_pip=True)
        for wanted in ([TORCH], ["-r", REQUIREMENTS]):
            called([python, "-m", "pip", "install", "--quiet", *wanted], Path.cwd())
        (folder / "ready").touch()
    return python


def called(command: list, cwd: Path, **environment: str) -> None:
    """Run a command. Raises PolyrewardError with the end of what it printed where it fails."""
    command = list(map(str, command))
    output = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, **output)
    if done.returncode:
        raise PolyrewardError(f"`{' '.join(command)}` failed; fix what it says:\n{done.stdout[-3000:]}")


def copy_model(model: Path, folder: Path) -> None:
    """Make a copy of a reward model that transformers 4.51 reads as polyreward's does; weights and vocabulary
    are links.

    Without a `rope_theta` at the top of config.json it would take 10000, say nothing, and give other rewards.
    Raises PolyrewardError for a model type that it has no classifier for."""
    folder.mkdir()
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "llama":
        raise PolyrewardError(
            f"{model}: transformers 4.51 has no `{config['model_type']}` classifier; name a Llama by --model"
        )
    write_text(
        json.dumps({**config, "rope_theta": config["rope_parameters"]["rope_theta"]}), folder / "config.json"
    )
    tokenizer = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    tokenizer |= {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        "chat_template": (model / "chat_template.jinja").read_text(encoding="utf-8"),
    }
    write_text(json.dumps(tokenizer), folder / "tokenizer_config.json")
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).symlink_to((model / name).resolve())


def write_conversations(rows: Sequence[dict], path: Path) -> None:
    """Write pairs as rewardbench reads them: chosen and rejected are whole message lists."""
    write_jsonl(
        ({role: as_messages(row["prompt"], row[role]) for role in ("chosen", "rejected")} for row in rows),
        path,
    )
