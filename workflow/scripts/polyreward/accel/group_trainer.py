"""GRPO's trainers: one that counts the groups that teach nothing, and one whose replies to a prompt share its
computation."""

import torch
from trl import GRPOTrainer

from polyreward.accel.shared_prompts import rest_of_rows


class CountingTrainer(GRPOTrainer):
    """TRL's trainer, which logs as `tied_groups` the share of groups that teach nothing, since their rewards
    are all equal.

    TRL's own count, frac_reward_zero_std, is of the batch where the batch scales rewards.
    shares_prompts: whether a prompt may be run once for all replies to it; rewards read it, too."""

    shares_prompts = False

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list) -> torch.Tensor:
        """Return rewards (replies of all processes, reward functions), as TRL does."""
        of_functions = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        rewards = (of_functions * self.reward_weights.to(of_functions.device)).nansum(dim=1)
        lowest, highest = rewards.view(-1, self.num_generations).aminmax(dim=1)
        self._log_metric("tied_groups", torch.isclose(lowest, highest).float().mean().item())
        return of_functions


class GroupTrainer(CountingTrainer):
    """The same, which runs a prompt once for all replies to it that stand in one batch. The loss is the same,
    to rounding.

    For text alone, in one process, and without gradient checkpointing, which takes the cache away."""

    shares_prompts = True

    def _get_per_token_logps_and_entropies(
        self,
        model,
        input_ids,
        attention_mask,
        logits_to_keep,
        batch_size=None,
        compute_entropy=False,
        **others,
    ) -> tuple[torch.Tensor, torch.Tensor | None, None]:
        """Return the log-probabilities and entropies (rows, logits_to_keep) of replies; what TRL calls for
        both models."""
        if any(value is not None and value is not False for value in others.values()):
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, batch_size, compute_entropy, **others
            )
        shared = (
            input_ids.shape[1] - logits_to_keep - 1
        )  # a prompt's last token says the first one of a reply
        logprobs, entropies = [], []
        batches = zip(
            *(tensor.split(batch_size or len(input_ids)) for tensor in (input_ids, attention_mask)),
            strict=True,
        )
        for ids, mask in batches:
            labels = ids.masked_fill(mask == 0, -100)[:, shared:]
            labels[:, 0] = -100
            with self.accelerator.autocast():
                found = model(**rest_of_rows(model, ids, mask, shared), labels=labels, fused_lm_head=True)
            logprobs.append(found.log_probs)
            entropies.append(found.entropy)
        return torch.cat(logprobs), torch.cat(entropies) if compute_entropy else None, None
