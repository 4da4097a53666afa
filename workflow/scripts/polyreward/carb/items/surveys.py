"""Opinions as surveys found them: how many of a hundred agreed, in four bands that mirror each other around
50."""

from collections.abc import Iterator, Sequence

CUTS = (
    20,
    30,
    40,
)  # the bands are: below the cut, up to 50, up to 100 - cut, above; which of these cuts, grouping chooses
BANDS = ("lowest", "below-half", "above-half", "highest")
MARGIN = 3  # a share nearer than that to a border of its bands is not asked about with them: surveys err by as much
FORMS = ("", "-not")  # of a question: how many agreed, and how many did not


def band(share: float, cut: int) -> int | None:
    """Return which of BANDS a share (0 to 100) lies in; None where it is nearer than MARGIN to a border."""
    borders = (cut, 50, 100 - cut)
    if min(abs(share - border) for border in borders) < MARGIN:
        return None
    return sum(share > border for border in borders)


def survey_rows(topic: dict, cultures: dict, asked: Sequence[str]) -> Iterator[dict]:
    """Yield the rows of references of a survey's question, for each culture, form of the question and cut.

    topic: with `prompt`, two forms in each language, and `shares`, {culture: how many of 100 agreed}. What
    did not agree is the rest of the hundred, so that the second form's band is the mirror of the first's."""
    for culture in asked:
        share = topic["shares"].get(culture)
        for cut in CUTS if share is not None else ():
            place = band(share, cut)
            if place is None:
                continue
            for form, prompt in zip(FORMS, topic["prompt"][culture], strict=True):
                number = len(BANDS) - 1 - place if form else place
                yield {
                    "topic": f"{topic['id']}-{cut}{form}",
                    "domain": topic["domain"],
                    "source": topic["source"],
                    "culture": culture,
                    "prompt": prompt.replace("{place}", cultures["cultures"][culture]["places"][culture]),
                    "is_fact": True,
                    "family": topic["id"],
                    "scale": str(cut),
                    "value": BANDS[number],
                    "check": f"{topic['check']}: {share} of 100",
                    "texts": band_texts(cultures, asked, number, cut),
                }


def band_texts(cultures: dict, asked: Sequence[str], number: int, cut: int) -> dict[str, str]:
    """Return {language: a band in words}, by `bands` of the file of cultures."""
    return {
        language: cultures["languages"][language]["bands"][number].format(low=cut, high=100 - cut)
        for language in asked
    }


def survey_problems(topic: dict, cultures: dict) -> Iterator[str]:
    """Yield what is wrong with a survey's question, in words."""
    for culture, share in topic["shares"].items():
        if culture not in cultures["cultures"]:
            yield f"shares: culture {culture} is not in the file of cultures; write one that is there"
            continue
        if not 0 <= share <= 100:
            yield f"shares: {culture} has {share}; a share is between 0 and 100"
        forms = topic["prompt"].get(culture, [])
        if len(forms) != len(FORMS) or any(form.count("{place}") != 1 for form in forms):
            yield (
                f"prompt, {culture}: needs {len(FORMS)} forms, how many agreed and how many did not, each"
                " with {place} once"
            )
        if len(cultures["languages"].get(culture, {}).get("bands", [])) != len(BANDS):
            yield (
                f"prompt, {culture}: the file of cultures has no {len(BANDS)} `bands` for its language; write"
                " them"
            )
    if len({band(share, CUTS[0]) for share in topic["shares"].values()} - {None}) < 2:
        yield "shares: all cultures are in the same band; ask what they differ on"
