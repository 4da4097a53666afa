"""What Figure 3's rules read: who is trained, on which prompts, labelled and judged by whom."""

from dataclasses import dataclass

from polyreward.config.scale import Scale
from polyreward.settings.transfer import Alignment as Settings

LABELLERS = [
    "target",
    "english",
]  # who labels a policy's responses: the target language's reward model, or the source's


@dataclass(frozen=True)
class Alignment:
    """The part of a scale that Figure 3 is about."""

    scale: Scale

    @property
    def settings(self) -> Settings:
        """The section `alignment` of the configuration."""
        return self.scale.settings.alignment

    @property
    def policy(self) -> str:
        """The model that becomes a policy."""
        return self.settings.policy

    @property
    def sampling(self) -> dict:
        """How policies are sampled, as sampling.loaded_policy takes it."""
        scale = self.scale
        return {"settings": self.settings.sampling, "precision": scale.precision, "serve": scale.serve}

    @property
    def start(self) -> str:
        """The folder of the policy before DPO: after supervised training, where there is some."""
        return self.scale.paths.policy("sft") if self.settings.sft else self.scale.base_folder(self.policy)

    def labellers(self, language: str) -> list[str]:
        """Return the folders of the reward models that label responses in a language, as LABELLERS has
        them."""
        base = self.settings.reward_base
        return [self.scale.paths.model(f"{base}_{training}") for training in (language, self.scale.source)]

    @property
    def prompt_rows(self) -> str:
        """The rows whose prompts the policy answers: of a dataset of their own, or the pool's dev rows."""
        return "prompts" if self.settings.prompt_data else "dev"

    def judged_instructions(self, language: str) -> str:
        """Return the instructions with the reference answers that the judge compares with: a model's, or
        their own."""
        paths = self.scale.paths
        answered = paths.alignment(f"references_{language}.jsonl")
        return answered if self.settings.reference else paths.translated("instructions", language)
