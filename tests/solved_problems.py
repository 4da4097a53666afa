"""A miniature of the package of worked solutions, made up for the tests, with the real one's layout."""

import hashlib
import zipfile
from pathlib import Path

import yaml
from support import ROOT

DATASET = "gsm-symbolic"
ENTRY = yaml.safe_load((ROOT / "workflow/catalog/datasets.yaml").read_text(encoding="utf-8"))[DATASET]
PACKAGE, FOLDER = ENTRY["package"], ENTRY["folder"]
TOML = '''question = "{question}"
answer = """
{answer}
"""
answer_annotated = """
{annotated}
"""
human-validated = "by a native speaker"
'''
ENGLISH = "Benny fills {n} bags with 12 nuts each and eats {e}. He halves the rest. How many per cent of 100 is a half?"
CHINESE = "班尼裝了{n}袋，每袋12顆堅果，吃了{e}顆。他把剩下的分成兩半。一半是100的百分之多少？"
STEPS = {
    "eng": ["In all: {n}*12 = <<{n}*12={a}>>{a}.", "Left: {a}-{e} = <<{a}-{e}={b}>>{b}.", "A half: {b}/2 = <<{b}/2={c}>>{c}."],
    "zho": ["{n}*12 = <<{n}*12={a}>>{a}顆。", "剩下{a}-{e} = <<{a}-{e}={b}>>{b}顆。", "一半是{b}/2 = <<{b}/2={c}>>{c}顆。"],
}  # fmt: skip


def solved(name: str, bags: int = 13, eaten: int = 12) -> str:
    """Return a TOML file of a problem; name: eng, zho, or another that gets the English text."""
    a, b, c = 12 * bags, 12 * bags - eaten, (12 * bags - eaten) // 2
    steps = "\n".join(STEPS.get(name, STEPS["eng"]))
    question = CHINESE if name == "zho" else ENGLISH
    return TOML.format(
        question=question.format(n=bags, e=eaten),
        answer=f"{steps.format(n=bags, a=a, e=eaten, b=b, c=c)}\n#### {c}",
        annotated=f"{steps} That is {{c*100//100}} of 100.\n#### {{c}}",
    )


SOLVED = {name: solved(name) for name in ("eng", "ita", "zho", "deu")}


def wheel_in(folder: Path, problems: dict[str, dict], more: dict | None = None) -> Path:
    """Write a wheel that needs a later Python; problems: {language: {template: TOML}}."""
    name, version = PACKAGE.split("==")
    stem = f"{name.replace('-', '_')}-{version}"
    files = {
        f"{FOLDER}/{language}/symbolic/{template}.toml": content
        for language, of in problems.items()
        for template, content in of.items()
    }
    facts = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=3.99\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    files |= {f"{stem}.dist-info/{file}": text for file, text in facts.items()} | (more or {})
    path = Path(folder) / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, content in files.items():
            wheel.writestr(file, content)
    return path


def entry_of(wheel: Path, **changes) -> dict:
    """Return the dataset's catalog entry with a wheel's sha256 and with changes."""
    return {**ENTRY, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(), **changes}


def offline(checkout: Path, folder: Path) -> dict[str, str]:
    """Pin a miniature of the package in a checkout's catalog; return the variables with which pip finds only
    it."""
    folder.mkdir(parents=True, exist_ok=True)
    problems = {
        name: {f"{number:04}": solved(name, bags=number + 9) for number in range(6)}
        for name in ENTRY["languages"].values()
    }
    wheel = wheel_in(folder, problems)
    catalog = checkout / "workflow/catalog/datasets.yaml"
    text = catalog.read_text(encoding="utf-8").replace(ENTRY["sha256"], entry_of(wheel)["sha256"])
    catalog.write_text(text, encoding="utf-8")
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder.as_uri(), "PIP_CONFIG_FILE": "/dev/null"}
