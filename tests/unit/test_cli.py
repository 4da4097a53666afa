"""The command line, as people use it."""

import json
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from tiny_models import ROOT, ROWS

from polyreward import cli
from polyreward.cli import pages
from polyreward.core.kinds import REWARD_KINDS
from polyreward.ops.environments import STAGES
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows


@pytest.fixture
def rows_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def score(folder, rows, out, *options) -> int:
    files = ["score", str(folder), str(rows), "--out", str(out)]
    return cli.main([*files, "--max-length", "128", "--token-budget", "200", *options])


def test_help_does_not_wait_for_torch():
    script = "import sys, polyreward.cli; polyreward.cli.main(['score', '--help']); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["scor"], "No such command 'scor'"),
        (["score", "m", "d"], "Missing option '--out'"),
        (["score", "m", "d", "--kind", "x"], f"'x' is not one of {', '.join(map(repr, REWARD_KINDS))}"),
        (["catalog", "check"], "Missing argument 'LANGUAGES...'"),
        (["plan", "--configfile"], "requires an argument"),
    ],
    ids=" ".join,
)
def test_a_usage_error_gives_exit_2_and_is_named(capsys, command, said):
    assert cli.main(command) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "targets", "files"),
    [
        ("", ["all"], []),
        ("a b --configfile x.yaml", ["a", "b"], ["x.yaml"]),
        ("--configfile x.yaml --configfile y.yaml z.yaml", ["all"], ["x.yaml", "y.yaml", "z.yaml"]),
        ("--configfile x.yaml -- a", ["a"], ["x.yaml"]),
        ("--configfile=x.yaml a", ["a"], ["x.yaml"]),
    ],
)
def test_plan_takes_overlays_as_snakemake_does(monkeypatch, arguments, targets, files):
    asked = {}
    monkeypatch.setattr("polyreward.ops.planning.plan_text", lambda *given: asked.update(given=given) or "")
    assert cli.main(["plan", *arguments.split()]) == 0
    assert asked["given"] == (targets, files, ROOT, None, ROOT)


def test_score_writes_a_parquet_and_prints_a_table(reward_folder, rows_file, tmp_path, capsys):
    assert score(reward_folder, rows_file, tmp_path / "out.parquet") == 0
    scores = pd.read_parquet(tmp_path / "out.parquet")
    expected = score_rows(load_classifier(reward_folder, "float32", 128, 200), ROWS, "")
    assert list(scores.columns) == list(expected.columns)
    pd.testing.assert_frame_equal(scores, expected, check_dtype=False)
    printed, remark = capsys.readouterr().out.strip().split("\n\n")
    assert remark.startswith("A scorer that does not read gets 50.0.")
    header, _, *lines = printed.splitlines()
    assert [cell.strip() for cell in header.strip("|").split("|")] == [
        "subset", "accuracy_pct", "low", "high", "n_items", "truncated_pct", "n_within_noise",
    ]  # fmt: skip
    assert [line.split("|")[1].strip() for line in lines] == ["advice", "maths", "writing", "all items"]


def test_score_takes_a_judge_and_a_policy_with_its_reference(tiny_gemma, rows_file, tmp_path, capsys):
    out = tmp_path / "out.parquet"
    for kind in ("implicit", "generative"):
        assert score(tiny_gemma, rows_file, out, "--kind", kind) == 0
        assert len(pd.read_parquet(out)) == len(ROWS)
    assert score(tiny_gemma, rows_file, out, "--reference", str(tiny_gemma)) == 1
    assert "add --kind implicit" in capsys.readouterr().err
    assert score(tiny_gemma, rows_file, out, "--reference", str(tiny_gemma), "--kind", "implicit") == 0
    assert (pd.read_parquet(out)["score_chosen"] == 0).all()
    assert "Margins that batching may turn (n_within_noise): r0, r1, r2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{not json", "not JSON"),
        ('{"prompt": "a", "chosen": "b"}', "has no `rejected`"),
        ('{"prompt": "a", "chosen": "b", "rejected": ["c", 3]}', "`rejected` is 3, not a text"),
    ],
)
def test_a_bad_row_gives_exit_1_and_its_line_with_a_wrong_model(rows_file, tmp_path, capsys, line, problem):
    rows_file.write_text(rows_file.read_text() + line + "\n")
    assert score(tmp_path / "none", rows_file, tmp_path / "out.parquet") == 1
    message = capsys.readouterr().err
    missing = f"  - {tmp_path / 'none'}: there is no such folder"
    assert message.startswith(f"polyreward: score: 2 problems\n{missing}")
    assert f"{rows_file}:{len(ROWS) + 1}: " in message and problem in message
    assert "Traceback" not in message
    assert not (tmp_path / "out.parquet").exists()


NOWHERE = ["/no/where", "../none", "~/none", "results/work/4_models/none", "here/none"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        *((path, "there is no such folder") for path in NOWHERE),
        ("here", "is no model folder (no config.json in it)"),
        ("rows.jsonl", "is a file, not a model folder"),
    ],
)
def test_a_model_that_can_only_be_a_folder_is_not_asked_of_the_hub(
    rows_file, monkeypatch, capsys, source, problem
):
    monkeypatch.chdir(rows_file.parent)
    (rows_file.parent / "here").mkdir()
    monkeypatch.setattr("polyreward.scoring.families.load_reward_model", None)
    assert score(source, "rows.jsonl", "out.parquet") == 1
    assert f"polyreward: score: 1 problem\n  - {source}: {problem}" in capsys.readouterr().err


def test_a_wrong_option_is_named_before_pairs_are_read_and_pytorch_is_imported(rows_file, monkeypatch):
    rows_file.write_text("{not json\n")
    command = ["score", "here", str(rows_file), "--out", "o.xlsx", "--against", "other"]
    script = f"import sys, polyreward.cli; polyreward.cli.main({command}); sys.exit('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], cwd=rows_file.parent, capture_output=True, text=True)
    assert ran.returncode == 0 and "score: 3 problems" in ran.stderr and "JSON" not in ran.stderr


def test_a_model_that_is_no_folder_is_said_to_be_taken_for_the_hub_s(rows_file, monkeypatch, capsys):
    monkeypatch.chdir(rows_file.parent)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert score("my-rm", "rows.jsonl", "out.parquet") == 1
    said, refusal = capsys.readouterr().err.split("polyreward: ", 1)
    assert said.splitlines()[-1] == "my-rm: there is no such folder here, so it is taken for the hub's"
    assert "my-rm" in refusal


# --- catalogs


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The mini data of another checkout than the one that the package is in, with the work in a folder of it."""
    shutil.copytree(ROOT / "resources/mini", tmp_path / "resources/mini")
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/artifacts.yaml").touch()
    monkeypatch.chdir(tmp_path / "workflow")
    return tmp_path / "resources/mini"


def test_catalog_check_with_a_removed_entry_gives_exit_1_and_names_it(data, capsys):
    path = data / "catalogs/es.po"
    entries = path.read_text(encoding="utf-8").split("\n\n")
    number, removed = next((n, entry) for n, entry in enumerate(entries) if "chat-p02: prompt" in entry)
    path.write_text("\n\n".join(entries[:number] + entries[number + 1 :]), encoding="utf-8")
    assert cli.main(["catalog", "check", "es"]) == 1
    message, text = capsys.readouterr().err, "Why does it get dark so early in {place}"
    assert "1 problem" in message
    assert "is not in the catalog; run `polyreward catalog update` and translate it" in message
    assert text in removed and text in message


def test_catalog_update_adds_new_texts_to_every_language_of_the_checkout_at_hand(data, capsys):
    answers = "prompt: Brand new?, chosen: Quite new., rejected: Old hat."
    (data / "pool/new.yaml").write_text(
        f"- {{id: new, subset: advice, slots: {{}}, fills: [{{}}], {answers}}}\n"
    )
    assert (
        cli.main(["catalog", "update", "es", "pt"]) == 1
    )  # the new texts are not translated, nor is any in pt
    for language in ("es", "pt"):
        assert "Brand new?" in (data / f"catalogs/{language}.po").read_text(encoding="utf-8"), language
    said = capsys.readouterr()
    assert f"{data / 'catalogs/pt.po'}: written" in said.out and len(said.err.splitlines()) > 500
    assert not (ROOT / "resources/mini/catalogs/pt.po").exists()


# --- what is written from settings and from the lock


def test_settings_and_envs_write_their_files_and_list_them(tmp_path, monkeypatch, capsys):
    for name in ("config.yaml", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    assert cli.main(["settings"]) == 0
    *schemas, page = capsys.readouterr().out.split()
    assert page == "docs/settings.md"
    assert schemas == [
        f"workflow/schemas/{name}.schema.json"
        for name in ("config", "paper", "claims", "claims_lock", "paper_settings")
    ]
    assert (tmp_path / "docs/settings.md").read_text() == (ROOT / "docs/settings.md").read_text()
    assert cli.main(["envs"]) == 0
    assert capsys.readouterr().out.split() == [f"envs/{stage}.yaml" for stage in STAGES]


def helps():
    """Yield each text of --help: of the program, its commands and their options."""
    yield "polyreward", cli.commands.help
    for name, command in cli.commands.commands.items():
        yield name, command.help
        yield name, command.get_short_help_str(1000)
        options = [one for one in command.params if one.param_type_name == "option"]
        yield from ((f"{name} {one.name}", one.help) for one in options)


def test_each_help_text_begins_with_a_noun_or_a_verb():
    texts = list(helps())
    assert len(texts) > 40
    no_start = ("Of", "Whose", "What", "Which", "As", "By", "Where", "From", "It", "That")
    first_words = {name: text.split()[0].strip(".,:;") for name, text in texts}
    assert {name: word for name, word in first_words.items() if word in no_start or word[0].islower()} == {}


def test_the_help_shows_users_commands_apart_and_cuts_no_summary(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    users, maintainers = said.split("Commands for maintainers:")
    assert "..." not in said.split("Commands:")[1] and "  verify" in users and "  settings" in maintainers
    assert set(cli.MAINTAINERS) < set(cli.commands.commands)


def test_a_results_folder_names_the_scale_in_each_command_that_reads_results(monkeypatch, capsys, tmp_path):
    for name in ("costs", "lock", "power", "report", "unavailable", "verify", "bundle"):
        assert [one.name for one in cli.commands.commands[name].params][0] == "results", name
    asked = []
    monkeypatch.setattr("polyreward.ops.power_page.power_page", lambda *given: asked.append(given) or "")
    assert cli.main(["power", "results/tiny"]) == 0
    monkeypatch.setattr("polyreward.ops.planning.plan_text", lambda *given: asked.append(given) or "")
    assert cli.main(["plan", "results/tiny/table1.csv"]) == 0
    tiny = ["workflow/scales/tiny.yaml"]
    assert cli.main(["plan", "results/tiny"]) == 0
    power, plan, whole = asked
    assert (
        power[0] == tiny and plan[:2] == (["results/tiny/table1.csv"], tiny) and whole[:2] == (["all"], tiny)
    )


def test_a_results_folder_names_the_scale_before_it_has_results(capsys):
    """Also for commands that read only settings; mini has no overlay."""
    assert cli.main(["sheet", "results/tiny", "tiny-gemma_es"]) == 0
    assert cli.main(["sheet", "results", "gemma-3-270m_es"]) == 0
    assert cli.main(["hub-check", "results/tiny"]) == 0
    assert cli.main(["language", "check", "fr", "results/french"]) == 0
    said = capsys.readouterr().out
    assert "\ntiny-gemma_es " in said and "\ngemma-3-270m_es " in said
    assert "This scale fetches nothing from the hub" in said and "fr: nothing is missing" in said
    for command in (["hub-check"], ["language", "check", "fr"], ["power"]):
        assert cli.main([*command, "results/nothing"]) == 1
        assert "no scale has a folder of that name; add --configfile" in capsys.readouterr().err


def test_the_version_and_the_commands_to_start_with(capsys):
    assert cli.main(["--version"]) == 0
    assert re.fullmatch(r"polyreward \d+\.\d+\.\d+\n", capsys.readouterr().out)
    assert cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    start = said[said.index("Start with one of these:") : said.index("Options:")]
    assert re.findall(r"^ +polyreward (\w+)", start, re.MULTILINE) == ["score", "report", "plan"]
