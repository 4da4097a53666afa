"""envs/*.yaml: one conda environment per stage, whose pip pins are those of requirements.lock."""

import re
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_text

PYTHON, PIP = "3.11", "26.2"
# torch is not in the lock, since the right build depends on the machine; its version is in pyproject.toml.
STAGES = {
    "sources": (
        "babel datasets gguf holidays httpx2 huggingface-hub jsonschema pandas pyarrow pyyaml "
        "safetensors simpleeval tokenizers torch transformers trl"
    ),
    "translate": ("babel httpx2 jsonschema openai pandas pyyaml sacrebleu simpleeval torch transformers"),
    "train": "accelerate datasets peft pyyaml safetensors torch transformers trl",
    "score": (
        "httpx2 openai pandas pyarrow safetensors scikit-learn scipy statsmodels torch tqdm transformers"
    ),
    "align": "accelerate datasets httpx2 openai peft pyyaml scipy torch tqdm transformers trl",
    "analyse": "jinja2 numpy pandas pyarrow sacrebleu safetensors scipy statsmodels tabulate",
    "plot": (
        "babel fonttools jinja2 justmytype-intl-cjk justmytype-intl-rtl justmytype-intl-sea "
        "matplotlib numpy pandas pyarrow sacrebleu safetensors scipy seaborn statsmodels tabulate"
    ),
    "notebook": (
        "babel ipykernel jupytext matplotlib nbconvert pandas pyarrow scipy seaborn statsmodels tabulate"
    ),
}


def locked_versions(root: str | Path) -> dict[str, str]:
    """Return {package: version} of requirements.lock, and torch's from pyproject.toml."""
    lock = Path(root, "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock, re.MULTILINE)
    project = Path(root, "pyproject.toml").read_text(encoding="utf-8")
    torch = re.search(r'"torch==([^"]+)"', project)[1]
    return {canonicalize_name(name): version for name, version in pins} | {"torch": torch}


def environment_text(stage: str, versions: dict[str, str]) -> str:
    """Return a stage's environment file: python and pip from conda-forge, all else pinned for pip."""
    names = STAGES[stage].split()
    missing = ", ".join(name for name in names if name not in versions)
    if missing:
        raise PolyrewardError(
            f"envs/{stage}.yaml: {missing} is not in requirements.lock; add it to pyproject.toml"
        )
    # What packages need too, by the installed packages' metadata, with the extras that they ask for
    todo, found = [(name, "") for name in names], set()
    while todo:
        name, extra = todo.pop()
        name = canonicalize_name(name)
        if (name, extra) not in found and name in versions:
            found.add((name, extra))
            for need in map(Requirement, requires(name) or []):
                if need.marker is None or need.marker.evaluate({"extra": extra}):
                    todo += [(need.name, one) for one in ("", *need.extras)]
    pins = "".join(f"      - {name}=={versions[name]}\n" for name in sorted({name for name, _ in found}))
    return (
        f"# Written by `polyreward envs` from requirements.lock; do not edit. Stage: {stage}.\n"
        "channels:\n  - conda-forge\n  - nodefaults\n"
        f"dependencies:\n  - python ={PYTHON}\n  - pip ={PIP}\n  - pip:\n{pins}"
    )


def write_environments(root: str | Path) -> list[Path]:
    """Write all environment files and return their paths."""
    versions = locked_versions(root)
    paths = {stage: Path(root, "envs", f"{stage}.yaml") for stage in STAGES}
    for stage, path in paths.items():
        write_text(environment_text(stage, versions), path)
    return list(paths.values())
