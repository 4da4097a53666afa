"""Inputs of Figure 3's rules: the policy, prompts, labellers and judge."""

from dataclasses import dataclass

from polyreward.config.scale import Scale
from polyreward.settings.transfer import Alignment as Settings

LABELLERS = [
    "target",
    "english",
]  # who labels a policy's responses: the target language's reward model, or the source's


@dataclass(frozen=True)
class Alignment:
    """The part of a scale that makes Figure 3."""

    scale: Scale

    @property
    def settings(self) -> Settings:
        """Section `alignment` of the configuration."""
        return self.scale.settings.alignment

    @property
    def policy(self) -> str:
        """Base model of the policy."""
        return self.settings.policy

    @property
    def sampling(self) -> dict:
        """Sampling settings, as for sampling.loaded_policy."""
        scale = self.scale
        return {"settings": self.settings.sampling, "precision": scale.precision, "serve": scale.serve}

    @property
    def start(self) -> str:
        """Folder of the policy before DPO: after supervised training, if any."""
        return self.scale.paths.policy("sft") if self.settings.sft else self.scale.base_folder(self.policy)

    def labellers(self, language: str) -> list[str]:
        """Return the folders of the reward models that label a language's responses, keyed as LABELLERS."""
        base = self.settings.reward_base
        return [self.scale.paths.model(f"{base}_{training}") for training in (language, self.scale.source)]

    @property
    def prompt_rows(self) -> str:
        """Rows whose prompts the policy answers: a dataset's, or the pool's dev rows."""
        return "prompts" if self.settings.prompt_data else "dev"

    def judged_instructions(self, language: str) -> str:
        """Return the instructions with the reference answers, a model's or their own, for the judge."""
        paths = self.scale.paths
        answered = paths.alignment(f"references_{language}.jsonl")
        return answered if self.settings.reference else paths.translated("instructions", language)
