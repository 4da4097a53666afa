"""Items of a user's own, of two cultures and two domains that are not CARB's: leaderboard, figures and what
cannot be tested."""

import json

import pandas as pd
import pytest
from flow import SCALE
from support import snakemake

from polyreward.core.files import read_jsonl

pytestmark = pytest.mark.slow

SETTINGS = """
carb: {item_files: [items.json, more.jsonl], cultures: [it, ko], domains: [food, law]}
think_as_locals: {cultures: null, evaluation: {cultures: [it, ko]}}
"""
TEXTS = {
    "Italian": {
        "food": ["Come si mangia il piatto {}?", "Con le mani.", "Con la forchetta.", "Con il cucchiaio.", "Con le bacchette."],
        "law": ["Che dice la legge {}?", "Che si paga in euro.", "Che si paga in won.", "Che non si paga.", "Che paga il re."],
    },
    "Korean": {
        "food": [
            "{}번 음식은 어떻게 먹나요?", "손으로 먹습니다.",
            "젓가락으로 먹습니다.", "포크로 먹습니다.", "칼로 먹습니다.",
        ],
        "law": [
            "{}번 법은 무엇을 말하나요?", "한국 원화로 낸다고 합니다.",
            "유로로 낸다고 합니다.", "내지 않는다고 합니다.", "왕이 낸다고 합니다.",
        ],
    },
}  # fmt: skip


def items(language):
    """Return items in the layout of the authors' public sample, the texts ours: six of each domain."""
    return [
        {
            "id": f"{domain}_{number}", "language": language, "country": None, "prompt": prompt.format(number),
            "chosen": [chosen], "chosen_model": ["human"], "rejected": rejected, "rejected_model": ["a", "b", "c"],
            "num_correct": 1, "source": "made_up", "subset": f"cultural_{domain}", "category": "other",
        }
        for domain, (prompt, chosen, *rejected) in TEXTS[language].items()
        for number in range(6)
    ]  # fmt: skip


def test_a_benchmark_of_the_user_s_own_gets_a_leaderboard_and_figures(table1, copied, tmp_path):
    folder = copied(table1, tmp_path / "items")
    (folder / "mine.yaml").write_text(SETTINGS, encoding="utf-8")
    (folder / "items.json").write_text(
        json.dumps(items("Italian"), ensure_ascii=False, indent=2), encoding="utf-8"
    )
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items("Korean"))
    (folder / "more.jsonl").write_text(lines, encoding="utf-8")
    targets = ["carb_leaderboard.csv", "carb_construction.csv", "carb_consistency.png"]
    targets += [f"carb_figure{number}.png" for number in (1, 2, 3)]
    wanted = ["--configfile", *SCALE, "mine.yaml", "--cores", "2", "--"]
    ran = snakemake(*wanted, *(f"results/tiny/{name}" for name in targets), cwd=folder, many_jobs=True)
    assert ran.returncode == 0, ran.stdout
    results = folder / "results/tiny"
    leaderboard = pd.read_csv(results / "carb_leaderboard.csv").set_index("scorer")
    assert {"it", "ko", "food", "law"} < set(leaderboard.columns) and "commonsense" not in leaderboard.columns
    assert {"tiny-gemma_en", "tiny-judge", "tiny-judge-knockout", "length"} <= set(leaderboard.index)
    assert leaderboard["n"].eq(24).all() and leaderboard.loc["chance", "carb"] == 25
    # the chosen answer is the longest to each question of law, and to none of food
    assert leaderboard.loc["length", ["it", "ko", "food", "law", "carb"]].tolist() == [50, 50, 0, 100, 50]
    used = read_jsonl([results / f"work/2_prepared/carb/{culture}.jsonl" for culture in ("it", "ko")])
    given = {(item["prompt"], *item["chosen"]) for language in TEXTS for item in items(language)}
    assert {(item["prompt"], item["answers"][item["chosen"]]) for item in used} == given
    assert all(item["category"] == "other" and item["rejected_model"] == ["a", "b", "c"] for item in used)
    glance = pd.read_csv(results / "carb_figure1.csv")
    assert glance.loc[glance["panel"] == "prompt", "item"].item().endswith("_it")
    assert glance.loc[glance["panel"] == "count", "n_items"].tolist() == [6] * 4
    counts = pd.read_csv(results / "carb_construction.csv")
    assert counts["items_drawn"].tolist() == [6] * 4 and counts["references"].isna().all()
    consistency = pd.read_csv(results / "carb_consistency.csv")
    assert set(consistency["n_items"]) == {0} and consistency["consistency"].isna().all()
