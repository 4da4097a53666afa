"""Several trainings of reward models and policies, and several answers: their mean counts, and their variance."""

from functools import cache

import numpy as np
import pytest
from made_up import BASE, INTERVAL, LANGUAGES, TARGETS, accuracies, everywhere, evidence, judgements, quantity
from scipy.stats import t as student

from polyreward.claims.transfer_evidence import WinRates
from polyreward.core.errors import PolyrewardError


def of_judgements(table, trainings=1, against="base"):
    made_up = evidence(win_rates=WinRates(table, INTERVAL, trainings))
    return quantity("win_rate_lead", made_up, against=against, over="mean")


def test_an_instruction_s_win_is_its_mean_over_runs():
    table = judgements({"english": 0.5, "base": 0.5}, runs=2)
    of_run = (table["run"] == 0).astype(float)
    table = table.assign(win=table["win"].where(table["policy"] == "base", of_run))
    # each once right and once wrong: no spread
    assert WinRates(table, INTERVAL).draws("english", "es") == pytest.approx(50)
    assert of_judgements(table).note == "Languages: es it ko zh. Answers per instruction: 2."


def test_trainings_of_policies_that_differ_widen_the_interval_of_a_lead():
    table = judgements({"english": 0.5, "target": 0.4, "base": 0.5}, runs=2)
    table["run"] += 1
    other = (table["policy"] == "english") & (table["run"] == 2)
    table.loc[other & table["id"].between("i30", "i53"), "win"] = 1.0  # the second training gets 90%, not 50
    for against in ("target", "base"):
        one, two = (of_judgements(table, trainings, against) for trainings in (1, 2))
        assert two.contrasts.points == pytest.approx(one.contrasts.points)
        (low,), (high,) = one.contrasts.ends(0.95)
        (lower,), (higher,) = two.contrasts.ends(0.95)
        assert lower < low - 5 < high + 5 < higher
        assert two.trainings == 2
        assert two.test == "paired bootstrap over instructions and variance between trainings"


def test_an_instruction_without_all_judgements_is_left_out_and_counted():
    table = judgements({"english": 0.5, "base": 0.5}, runs=1)
    table.loc[3, "win"] = np.nan
    estimate = of_judgements(table)
    assert estimate.n == 59 and "Left out: 1 instructions" in estimate.note
    with pytest.raises(PolyrewardError, match="none of 60 instructions"):
        WinRates(table.assign(win=np.nan), INTERVAL)


@cache
def of_seeds(*english):
    """Accuracies of trainings of the English reward model with these shares, and of as many of each other
    one, all alike."""
    suffixes = ["", *(f"_seed{n}" for n in range(2, len(english) + 1))]
    rights = {}
    for end, share in zip(suffixes, english, strict=True):
        rights |= everywhere(f"{BASE}_en{end}", share)
    names = [f"{BASE}_{language}{end}" for language in LANGUAGES for end in suffixes]
    return accuracies(rights, names, seeds=range(1, len(english) + 1))


def lead_of_seeds(of_trainings, over="mean"):
    return quantity("english_lead", evidence(accuracies=of_trainings), section="avg", over=over)


def test_several_trainings_are_averaged_and_their_variance_added():
    one, three = of_seeds(0.7), of_seeds(0.9, 0.7, 0.5)
    assert one.training_draws(BASE, "en", "es", "avg").shape == (401, 1)
    cases = three.training_draws(BASE, "en", "es", "avg")
    assert cases[0, :4] == pytest.approx([70, 90, 70, 50]) and np.array_equal(cases[:, 4], cases[:, 0])
    estimate = lead_of_seeds(three)
    assert estimate.test == "paired bootstrap over templates and variance between trainings"
    error, of_trainings = (float(errors[0]) for errors in estimate.contrasts.drawn.errors())
    # Trainings 20 points apart: 400 / 3, minus the templates' part
    assert of_trainings == pytest.approx(20 / np.sqrt(3), rel=0.05)
    assert lead_of_seeds(of_seeds(0.7, 0.7, 0.7)).contrasts.drawn.errors()[1][0] == 0
    assert error == pytest.approx(np.hypot(of_trainings, estimate.contrasts.drawn.values[1:].std()))
    low, high = (float(end[0]) for end in estimate.contrasts.ends(0.95))
    # Satterthwaite's: nearly all of the variance is of three trainings
    freedom = 2 * error**4 / (400 / 3) ** 2
    assert (high - low) / 2 == pytest.approx(error * student.ppf(0.975, freedom), rel=0.05)


def test_an_english_training_moves_all_contrasts_that_it_is_in():
    three = of_seeds(0.9, 0.7, 0.5)
    of_trainings = lead_of_seeds(three, "each").contrasts.drawn.errors()[1]
    assert of_trainings == pytest.approx([of_trainings[0]] * len(TARGETS)) and of_trainings[0] > 10
    # The same model in all languages: no mean lessens it
    assert lead_of_seeds(three).contrasts.drawn.errors()[1][0] == pytest.approx(of_trainings[0])
