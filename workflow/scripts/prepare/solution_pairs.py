"""Make preference pairs out of worked solutions of word problems.

A solution notes its steps as `<<6*2=12>>12`, and ends with `#### 12`. A wrong number has as many digits as
the right one, so that no answer is longer. What is drawn depends on the template, not on the language, and a
template has a pair of a kind in every language or in none, so that languages are paired."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from simpleeval import InvalidExpression, SimpleEval

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce, left_out_text
from polyreward.core.seeds import job_seed
from polyreward.ops.jobs import run

WRONG_NUMBER, WRONG_STEP, OTHER_PROBLEM = "wrong-number", "wrong-step", "other-problem"
NOTE = re.compile(r"<<([^<>]*)=([^<>=]*)>>")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*|(?<![\w.,])\.\d+")
THOUSANDS = re.compile(r"[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*")
RESULT = re.compile(rf"=[^\S\n]*\D?[^\S\n]*({NUMBER.pattern})")  # perhaps after a sign of a currency
FINAL = re.compile(r"####\s*(.*?)\s*\Z")
NEAR = 3  # units by which any wrong number may differ; a larger one may by a third


class NoPair(Exception):  # noqa: N818 - nothing is wrong with such a problem
    """Why a problem makes no pair of a kind."""


def without_notes(solution: str) -> str:
    """Return a solution as people read it."""
    return NOTE.sub("", solution)


def value_of(number: str) -> Fraction:
    """Return the value of a written number; groups of three digits are thousands, so that 1,200 is 1.200."""
    parts = re.split("[.,]", number)
    if len(parts) == 1 or THOUSANDS.fullmatch(number):
        return Fraction("".join(parts))
    return Fraction(f"{''.join(parts[:-1])}.{parts[-1]}")


def values_in(text: str) -> set[Fraction]:
    """Return the values of all numbers of a text."""
    return {value_of(found[0]) for found in NUMBER.finditer(text)}


def written_as(number: str, value: Fraction) -> str:
    """Return a value with another number's separators and count of digits.

    Raises NoPair where it has more or fewer, or is not positive."""
    digits = re.sub(r"\D", "", number)
    scaled = value * int("1" + "0" * _decimals(number))
    new = str(scaled.numerator).zfill(_decimals(number) + 1)
    if value <= 0 or scaled.denominator > 1 or len(new) != len(digits):
        raise NoPair("other numbers have more or fewer digits")
    rest = iter(new)
    return re.sub(r"\d", lambda _: next(rest), number)


def _decimals(number: str) -> int:
    parts = re.split("[.,]", number)
    return 0 if len(parts) == 1 or THOUSANDS.fullmatch(number) else len(parts[-1])


def with_values(text: str, changes: dict[Fraction, Fraction]) -> str:
    """Return a text in which each value of `changes` is another one wherever it is written."""

    def other(found: re.Match) -> str:
        value = value_of(found[0])
        return written_as(found[0], changes[value]) if value in changes else found[0]

    return NUMBER.sub(other, text)


def near_values(number: str, seed: int, *name: str) -> Iterator[Fraction]:
    """Yield values near a written number, in the order of their hashes.

    They end in as many zeros at least, since a round number looks right. Most have as many digits."""
    digits = int(re.sub(r"\D", "", number))
    unit = 10 ** (len(str(digits)) - len(str(digits).rstrip("0"))) if digits else 1
    reach = max(NEAR, digits // unit // 3)
    steps = [step for step in range(-reach, reach + 1) if step and digits + step * unit > 0]
    for step in sorted(steps, key=lambda step: job_seed(seed, *name, step)):
        yield Fraction(digits + step * unit, 10 ** _decimals(number))


def computed(terms: str) -> Fraction:
    """Return the value of a step's terms; raise NoPair where it cannot be computed."""
    readable = NUMBER.sub(lambda found: f"({value_of(found[0])})", terms)  # 0,1 is (1/10)
    try:
        return Fraction(SimpleEval().eval(readable)).limit_denominator(10**6)
    except (InvalidExpression, ArithmeticError, SyntaxError, TypeError, ValueError):
        raise NoPair("a step cannot be computed") from None


def final_number(solution: str) -> str:
    """Return the number of a solution's last line."""
    found = FINAL.search(solution)
    if not found or not NUMBER.fullmatch(found[1]):
        raise NoPair("the last line is not `####` and a number")
    return found[1]


def wrong_number(problem: dict, seed: int) -> str:
    """Return a solution in which the result of the last step is wrong, there and in all that follows."""
    solution, final = problem["solution"], final_number(problem["solution"])
    right = value_of(final)
    results = [(found[2].strip(), found.start(2)) for found in NOTE.finditer(solution)]
    found = [place for result, place in results if NUMBER.fullmatch(result) and value_of(result) == right]
    if not found:
        found = [one.start(1) for one in RESULT.finditer(solution) if value_of(one[1]) == right]
    if not found:
        raise NoPair("the final number is no step's result")
    place = found[-1]
    if right in values_in(without_notes(solution[solution.rfind("\n", 0, place) + 1 : place])):
        raise NoPair("the final number is also before its step's result")
    for wrong in near_values(final, seed, problem["template"], WRONG_NUMBER):
        try:
            return without_notes(solution[:place] + with_values(solution[place:], {right: wrong}))
        except NoPair:
            continue
    raise NoPair("other numbers have more or fewer digits")


def wrong_step(problem: dict, seed: int) -> str:
    """Return a solution in which a step before the last has a wrong result, from which later steps follow."""
    solution, template = problem["solution"], problem["template"]
    notes = list(NOTE.finditer(solution))
    final_number(solution)
    if len(notes) < 2:
        raise NoPair("fewer than two steps are noted")
    if not all(NUMBER.fullmatch(note[2].strip()) and _holds(note) for note in notes):
        raise NoPair("a noted step cannot be computed, or has another result")
    for number in sorted(range(len(notes) - 1), key=lambda one: job_seed(seed, template, WRONG_STEP, one)):
        for wrong in near_values(notes[number][2].strip(), seed, template, WRONG_STEP, str(number)):
            try:
                return without_notes(_followed(problem, notes, number, wrong))
            except NoPair:
                continue
    raise NoPair("no step can be followed to another final number with as many digits")


def _holds(note: re.Match) -> bool:
    try:
        return computed(note[1]) == value_of(note[2].strip())
    except NoPair:
        return False


def _followed(problem: dict, notes: Sequence[re.Match], first: int, wrong: Fraction) -> str:
    """Return a solution with a wrong result, and with what follows from it.

    Raises NoPair where a result that changes is the value of an earlier number or of a constant, so that a
    later number may be either."""
    solution, parts, done = problem["solution"], [], 0
    known = values_in(problem["question"]) | values_in(problem["constants"])
    changes: dict[Fraction, Fraction] = {}
    for number, note in enumerate(notes):
        before, right = solution[done : note.start()], value_of(note[2].strip())
        known |= values_in(before) | values_in(note[1])
        operands = [value_of(one[0]) for one in NUMBER.finditer(note[1])]
        if any(operands.count(value) > 1 for value in changes):
            raise NoPair("a step has a changed number twice, of which one may be another")
        terms = with_values(note[1], changes)
        value = wrong if number == first else right if terms == note[1] else computed(terms)
        if value != right:
            if right in known:
                raise NoPair("a changed result is also another number")
            parts += [with_values(before, changes), f"<<{terms}={written_as(note[2].strip(), value)}>>"]
            changes[right] = value
        else:
            parts += [with_values(before, changes), f"<<{terms}={note[2]}>>"]
        done = note.end()
    if len(changes) < 2 or value_of(final_number(solution)) not in changes:
        raise NoPair("the final number stays")
    return "".join([*parts, with_values(solution[done:], changes)])


def exchanged(solutions: dict[str, str]) -> dict[str, str]:
    """Return {template: another one's solution}: two of nearly the same length have each other's.

    So a scorer that ignores the question is right in exactly half of them. Of an odd number, the longest is
    left out."""
    order = sorted(solutions, key=lambda one: (len(without_notes(solutions[one])), one))
    pairs = list(zip(order[::2], order[1::2], strict=False))
    return {one: other for first, second in pairs for one, other in ((first, second), (second, first))}


def solution_pairs(problems: Sequence[dict], language: str, seed: int) -> tuple[list[dict], dict]:
    """Return the pairs in one language, and {kind: {reason: templates}} of those that are left out.

    Args:
        problems: rows of rule worked_solutions in all languages; the first decides which problems are
            exchanged.

    Raises:
        PolyrewardError: there is no pair of some kind.
    """
    languages = list(dict.fromkeys(row["language"] for row in problems))
    of = {one: {row["template"]: row for row in problems if row["language"] == one} for one in languages}
    templates = sorted({row["template"] for row in problems})
    others = exchanged({name: row["solution"] for name, row in of[languages[0]].items()
                        if all(name in own for own in of.values())})  # fmt: skip

    def other_problem(problem: dict, seed: int) -> str:
        if problem["template"] not in others:
            raise NoPair("no other problem is left")
        return without_notes(of[problem["language"]][others[problem["template"]]]["solution"])

    rows, left_out = [], {}
    kinds = {WRONG_NUMBER: wrong_number, WRONG_STEP: wrong_step, OTHER_PROBLEM: other_problem}
    for kind, rejected_of in kinds.items():
        made, reasons = {}, left_out.setdefault(kind, {})
        for template in templates:
            try:
                for one in [language, *(name for name in languages if name != language)]:
                    if template not in of[one]:
                        raise NoPair("no such problem")
                    found = rejected_of(of[one][template], seed)
                    made[template] = found if one == language else made[template]
            except NoPair as reason:
                made.pop(template, None)
                where = "" if one == language else f" in {one}"
                reasons.setdefault(f"{reason}{where}", []).append(template)
        if not made:
            raise PolyrewardError(
                f"{language}: no problem makes a pair of `{kind}`: {left_out_text(reasons)}"
            )
        for template, rejected in made.items():
            problem = of[language][template]
            chosen = without_notes(problem["solution"])
            texts = {"prompt": problem["question"], "chosen": chosen, "rejected": rejected}
            names = {"id": f"{template}-{kind}", "subset": kind, "template": template, "language": language}
            rows.append({**names, **texts})
    return rows, left_out


def main(snakemake):
    language = snakemake.wildcards.language
    rows, left_out = solution_pairs(read_jsonl(snakemake.input[0]), language, snakemake.params.seed)
    for kind, reasons in left_out.items():
        count = sum(row["subset"] == kind for row in rows)
        announce(f"{language}, {kind}: {count} pairs; left out: {left_out_text(reasons) or 'none'}")
    write_jsonl(rows, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
