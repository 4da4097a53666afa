"""Writing systems: the share of a text's letters, and which script a prompt is in."""

import math

import pytest
import yaml
from tiny_models import ROOT

from polyreward.core.writing import LETTERS, main_script, script_share

SAMPLES = {
    "ar": "يخلعون أحذيتهم عند الباب.",
    "zh": "在门口脱鞋。",
    "en": "They take off their shoes.",
    "de": "Üblich sind Straßenschuhe.",
    "ja": "玄関で靴を脱ぎます。コーヒー",
    "ko": "현관에서 신발을 벗습니다.",
    "ru": "Они снимают обувь.",
    "es": "Se quitan los zapatos, ¿no?",
    "th": "ถอดรองเท้าที่หน้าประตู",
    "vi": "Người ta cởi giày ở cửa.",
    "it": "Si tolgono le scarpe.",
}
LANGUAGES = yaml.safe_load((ROOT / "resources/languages.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_is_wholly_in_its_language_s_script(language):
    script = LANGUAGES[language]["script"]
    assert script_share(SAMPLES[language], script) == 1
    assert main_script(SAMPLES[language]) == script


def test_every_language_s_script_is_known():
    assert {entry["script"] for entry in LANGUAGES.values()} <= LETTERS.keys()


@pytest.mark.parametrize(("text", "script", "share"), [
    ("abcд", "Latn", 0.75),
    ("abcд", "Cyrl", 0.25),
    ("Wi-Fiを使う", "Jpan", 3 / 7),
    ("ＡＢ가", "Latn", 2 / 3),
    ("한 1", "Kore", 1),
])  # fmt: skip
def test_the_share_counts_letters_only(text, script, share):
    assert script_share(text, script) == pytest.approx(share)


def test_a_text_without_letters_has_no_share():
    assert math.isnan(script_share("31/12/2025 « »", "Latn"))


def test_of_equal_scripts_the_narrowest_is_taken():
    assert main_script("茶道") == "Hans"
