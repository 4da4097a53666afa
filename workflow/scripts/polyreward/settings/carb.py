"""The section of the CARB benchmark; "paper" means arXiv 2509.21798 here."""

from typing import Literal

from polyreward.settings.base import (
    Candidates,
    Count,
    CountFromZero,
    GrpoTraining,
    Language,
    Languages,
    Names,
    NamesOrNone,
    PlainName,
    Positive,
    Section,
)
from polyreward.settings.reward_models import Judge


class Embedding(Section):
    """The model whose hidden states compare texts."""

    model: str
    """A name in workflow/catalog/models.yaml."""
    layers: Count | None = None
    """Its lowest layers that are run; null for all."""
    max_length: Count = 128
    """Tokens of a text."""


class PolicyGrpo(GrpoTraining):
    """A policy for each reward model, trained by GRPO with its score as the reward."""

    policy: str
    """Who is trained: a name in workflow/catalog/models.yaml."""
    reward_models: Names | None = None
    """Those trained here, off_the_shelf or in reward_models whose scores reward; null for all (paper:
    all)."""
    prompts: Count
    """Prompts, drawn by hash from CARB's held-out topics; fewer where there are fewer."""


class Perturbation(Section):
    """Rewrites of the right answer, of which one changes the fact and three do not."""

    wordings: str = "resources/carb/wordings"
    """Folder of YAML files: right answers in other words, where no generators write them."""
    items_per_cell: Count | None
    """Items of each culture and domain, chosen by hash; null for all (paper: all)."""


class Consistency(Section):
    """The right answer in the languages of all cultures: exp(-k |difference|) of two scores, in units of the
    model's spread."""

    items_per_cell: Count | None
    """Items of each culture and domain, chosen by hash; null for all (paper: all)."""
    k: Positive = 1.0
    """k in exp(-k d), d the distance of two scores in units of spread; larger is stricter."""


class Quartets(Section):
    """Place quartets: one question about four places, whose four answers differ."""

    languages: Names | None = None
    """Only these of the scale's languages in which CARB's topics are written; null, or where the scale has
    none of these, all of them. Lessons are in them, too."""
    max_topics: Count | None = None
    """So many topics of each kind, facts and formats, drawn by hash; null for all. With fewer than ten there
    is no interval."""
    per_topic: Count = 2
    """Quartets of a topic, drawn by hash, that share no culture; fewer where there are fewer. With one, no
    model is asked about other places of a taught topic."""
    topics: str = "resources/carb/topics_culture"
    """Folder of culture_<name>.yaml, topics that only place quartets have, next to those of carb.topics."""
    files: dict[Language, str] = {}
    """Your own quartets instead, {language: file}, the same in every language (docs/howto/carb_items.md)."""
    open_books: CountFromZero = 20
    """Topics whose quartets are asked again with the four answers in the prompt, thrice: a test of whether a
    scorer can be judged on places at all; 0 for none. Ten or more give an interval."""
    judges: bool = True
    """Whether judges answer them, too: four questions a quartet and language, each in four orders."""


class Lessons(Section):
    """Facts of place quartets that reward models are taught, each in its own language; all are asked in every
    language."""

    bases: CountFromZero = 0
    """How many of bases, from the first: those whose reward models are taught."""
    epochs: Positive = 5.0
    """Passes over the lessons, which go on from the trained reward model."""
    batch_size: Count = 2
    """Requests per device and step; a quartet is one, with its twelve pairs."""


class Carb(Section):
    """The benchmark of cultural awareness: one right and three wrong answers."""

    cultures: Languages
    """Cultures in culture_file, or of item_files, each named after its language; the first has
    Figure 1's item (paper: the same ten)."""
    domains: Names
    """Domains (paper: the same four)."""
    item_files: NamesOrNone = []
    """Your own items instead of those that are built here (docs/howto/carb_items.md)."""
    culture_file: str = "resources/carb/cultures.yaml"
    """YAML file: where each culture is, its holidays, and how answers are framed."""
    topics: str = "resources/carb/topics"
    """Folder of <domain>.yaml, your own too (paper: Cultural Atlas, MANGO, WVS)."""
    topics_per_domain: Count | None = None
    """At most so many topics, chosen by hash; null for all."""
    generators: dict[PlainName, Judge] = {}
    """Models of several strengths that write the answers: generative entries, as in reward_models (paper:
    yes)."""
    embedding: Embedding
    """The model whose hidden states compare texts."""
    items_per_cell: Count | None
    """Items of each culture and domain, chosen by hash; every scorer sees the same; null for all (paper:
    all)."""
    knockout: NamesOrNone
    """Generative ones of off_the_shelf and reward_models that also judge pairs, in both orders, up to a
    final: rows <name>-knockout."""
    questions: Names
    """Sets of questions that policies answer: names in workflow/catalog/datasets.yaml, and files as
    docs/explain/carb.md has them (paper: include-base-44, blend, omgeval)."""
    questions_per_culture: Count | None = None
    """Questions of each set and culture, chosen by hash; null for all."""
    policies: Names
    """Models that answer the questions: names in workflow/catalog/models.yaml."""
    candidates: Candidates
    """Their answers."""
    rating: Literal["match", "chrf"] = "chrf"
    """Rating of picked answers that Figures 4 and 5 show: match (accepted or not) or chrf (nearness)."""
    grpo: PolicyGrpo | None = None
    """A policy for each reward model, next to best-of-N in Figure 5; null for none (paper: yes)."""
    quartets: Quartets = Quartets()
    """Place quartets, the test of culture."""
    lessons: Lessons = Lessons()
    """Which of them reward models are taught."""
    perturbation: Perturbation
    """Rewrites of the right answer."""
    consistency: Consistency
    """The right answer in all languages."""
