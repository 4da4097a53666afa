"""What CARB's rules read and write: its scorers, how they are loaded, and their files."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

from polyreward.config.model_files import ModelFiles
from polyreward.config.scale import Scale
from polyreward.core.kinds import REWARD_KINDS
from polyreward.core.naming import ModelName, one_of
from polyreward.core.yaml_files import read_yaml
from polyreward.settings.reward_models import as_entry

# Rewrites of right answers, and the same answers in all languages.
PERTURBED_SETS = ["carb_perturbation", "carb_consistency"]
TEXT_SCORERS = ["length", "script"]
PLOTTED = ["leaderboard", "correlation", "figure1", "figure2", "figure3", "figure5"]  # read by the notebook


class Carb:
    """A scale's part of CARB; a scorer's kind is classifier, implicit, generative or baseline."""

    def __init__(self, scale: Scale, models: ModelFiles):
        self.scale, self.models = scale, models
        self.settings = settings = scale.settings.carb
        paths, own = scale.paths, settings.item_files
        # Where items are the user's own, references only serve to train judges: all cultures, all topics.
        self.built_cultures = list(read_yaml(settings.culture_file)["cultures"]) if own else settings.cultures
        self.built_domains = settings.domains
        if own:
            found = Path(settings.topics).glob("*.yaml")
            self.built_domains = sorted({path.stem.split("_")[0] for path in found})
        self.generators = {name: as_entry(model) for name, model in settings.generators.items()}
        # {scorer: kind or judge}; a judge sees rewrites in pairs, so that a knock-out adds nothing there.
        self.knockouts = {f"{name}-knockout": name for name in settings.knockout}
        self.perturbed_models = {
            **dict.fromkeys(scale.trained_models(), "classifier"),
            **{name: entry["kind"] for name, entry in scale.ready_made.items()},
        }
        self.reward_models = {**self.perturbed_models, **dict.fromkeys(self.knockouts, "generative")}
        baselines = [*TEXT_SCORERS, *scale.untrained]
        self.scorers = {**self.reward_models, **dict.fromkeys(baselines, "baseline")}
        self.bases = {name: self._stands_on(self.knockouts.get(name, name)) for name in self.reward_models}
        written = "completions.jsonl" if settings.generators else "possible_items.jsonl"
        self.answers = paths.carb_step(written)
        self.item_files = [paths.carb_items(culture) for culture in settings.cultures]
        self.training_items = {
            culture: paths.prepared(f"carb_train/{culture}") for culture in self.built_cultures
        }
        self.candidates = [f"{paths.work}/5_scores/candidates/{policy}.jsonl" for policy in settings.policies]
        grpo = settings.grpo  # reward models that train a policy: those named, or all but knock-outs
        self.rewarding = (grpo.reward_models or list(self.perturbed_models)) if grpo else []
        references = {"references": f"{paths.work}/1_sources/carb/references.jsonl"}
        similarities = paths.carb_step("similarities.parquet")
        built = {**references, "possible": self.answers, "similarities": similarities}
        self.item_sources = {"given": own} if own else built
        self.rewrite_sources = {}
        if not own:
            files = sorted(map(str, Path(settings.perturbation.wordings).glob("*.yaml")))
            self.rewrite_sources = {**references, "cultures": settings.culture_file, "wordings": files}
            if settings.generators:
                self.rewrite_sources["paraphrases"] = paths.carb_step("paraphrases.jsonl")

    @property
    def zeros(self) -> dict[str, str]:
        """{scorer of rewrites whose score has a zero: which, as carb_sensitivity.parts_of_score has it}."""
        found = {"length": "own"}
        for name, kind in self.perturbed_models.items():
            if REWARD_KINDS[kind].has_zero:
                of_judge = "shares" if self.entry(name).get("verdict") == "text" else "log-odds"
                found[name] = of_judge if kind == "generative" else "own"
        return found

    def _stands_on(self, name: str) -> str:
        entry = self.scale.ready_made.get(name)
        if entry is None:
            return self._base(name)
        if "think_as_locals" in entry:
            return self.scale.settings.think_as_locals.base
        return entry.get("model") or entry.get("reference", {}).get("model", name)

    def _base(self, scorer: str) -> str:
        return scorer.split("-", 1)[1] if scorer in self.scale.untrained else ModelName.parse(scorer).base

    def entry(self, scorer: str) -> dict:
        """Return how a scorer is loaded: an entry as load_reward_model takes it."""
        if scorer in self.scale.untrained:
            source, pmi = self.scale.base_folder(self._base(scorer)), scorer.startswith("pmi-")
            return {"kind": "implicit", "source": source, "pmi": pmi}
        if scorer in self.scale.ready_made:
            return self.models.loadable(self._ready_made(scorer))
        return {"kind": "classifier", "source": self.scale.paths.model(scorer)}

    def _ready_made(self, scorer: str) -> dict:
        """Return an entry without a question about two answers, since CARB asks about four."""
        return {key: value for key, value in self.scale.ready_made[scorer].items() if key != "question"}

    def folders(self, scorer: str) -> list[str]:
        """Return the folders that a scorer is loaded from."""
        if scorer in self.scale.ready_made:
            return self.models.folders(self._ready_made(scorer))
        return [self.entry(scorer)["source"]]

    def model(self, scorer: str) -> str | dict:
        """Return the model of a scorer, as JobResources takes it."""
        return self.scale.ready_made.get(scorer) or self._base(scorer)

    def item_states(self, scorer: str, items: str = "carb") -> list[str]:
        """Return the states of items (carb or carb_perturbed) below a trained reward model's own layers."""
        scale = self.scale
        if scorer in scale.ready_made or scorer in scale.untrained or not scale.top_layers:
            return []
        return [f"{scale.paths.work}/5_scores/frozen/{self._base(scorer)}/{items}.safetensors"]

    def pattern(self, left_out: Iterable[str]) -> str:
        """Return a short regular expression for all reward models and log-likelihoods but some."""
        scale, left_out = self.scale, set(left_out)
        trained = f"(?:{one_of(scale.settings.bases)})_(?:{one_of(scale.languages)})"
        others = [name for name in [*scale.ready_made, *scale.untrained] if name not in left_out]
        return f"{trained}|{one_of(others)}"

    def score_files(self, scorers: Iterable[str]) -> list[str]:
        """Return the scores of the items by some scorers."""
        return self.perturbed_score_files(["carb"], scorers)

    def perturbed_files(self, *sets: str) -> list[str]:
        """Return the items of some of PERTURBED_SETS, a file for each culture, set after set."""
        paths = self.scale.paths
        return [paths.prepared(f"{name}/{culture}") for name in sets for culture in self.settings.cultures]

    def perturbed_score_files(self, sets: Iterable[str], scorers: Iterable[str]) -> list[str]:
        """Return the scores of some sets by some scorers: a file for each culture, scorer after scorer."""
        parts = product(sets, scorers, self.settings.cultures)
        return [self.scale.paths.scores(*part) for part in parts]

    def candidate_scores(self, scorers: Iterable[str]) -> list[str]:
        """Return the scores of the policies' answers by some scorers, policy after policy."""
        paths, policies = self.scale.paths, self.settings.policies
        return [paths.scores("candidates", scorer, policy) for policy in policies for scorer in scorers]

    def grpo_models(self, scorer: str) -> dict:
        """Return the policy and reward model of one training, as JobResources takes them."""
        models, reward_model = self.scale.known.models, self.model(scorer)
        reference = models[reward_model] if isinstance(reward_model, str) else reward_model
        return {**models[self.settings.grpo.policy], "reference": reference}

    def board_settings(self, kinds: dict[str, str]) -> dict:
        """Return what leaderboard.board_of needs to compare some scorers, {scorer: kind}."""
        cells = {"cultures": self.settings.cultures, "domains": self.settings.domains}
        return {"kinds": kinds, **cells, "interval": self.scale.interval}

    @property
    def notebook(self) -> list[str]:
        """The files that the notebook reads: artifacts, items and scores."""
        artifacts = [self.scale.paths.artifact(f"carb_{name}.csv") for name in PLOTTED]
        return [*artifacts, *self.item_files, *self.score_files(self.scorers)]
