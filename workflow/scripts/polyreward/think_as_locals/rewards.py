"""What a judge is rewarded for: a right verdict, criteria that help the right verdict, and the layout."""

from collections.abc import Sequence

from polyreward.scoring.criteria_layout import LABELS, Reply, read_reply
from polyreward.scoring.label_logprobs import label_logprobs
from polyreward.settings.think_as_locals import RewardWeights
from polyreward.think_as_locals.replies import TRAINING_FAULTS, UNNAMED

NAMED = 3  # characters at most that have to be an answer's last ones


def appropriateness(
    model,
    tokenizer,
    requests: Sequence[str],
    replies: Sequence[Reply],
    right: Sequence[str],
    max_length: int,
    token_budget: int,
    share: bool = False,
) -> list[float]:
    """Return R_appr of replies in nats: log p(j | q, y1, y2, z) - log p(j | q, y1, y2).

    j: the right label; z: the reply's criteria; p: the current model's, without a gradient, over the tokens
    of the label only. The second term is the same for all replies to a question: it moves none of a group's
    advantages. A reply that is not in form gets the least of those to the same question that are, so that it
    never gains on them; 0 where there are none. Source: arXiv 2509.21798."""
    # Also what is not in form is run: processes that share a model have to call it equally often.
    asked = [(request, reply.criteria) for request, reply in zip(requests, replies, strict=True)]
    asked += [(request, ()) for request in dict.fromkeys(requests)]
    found = label_logprobs(model, tokenizer, asked, max_length, token_budget, share)
    at_once = {request: found[len(replies) + n] for n, request in enumerate(dict.fromkeys(requests))}
    gains, least = [], {}
    for own, request, reply, label in zip(found[: len(replies)], requests, replies, right, strict=True):
        gain = float((own - at_once[request])[LABELS.index(label)])
        gains.append(gain)
        if not reply.fault:
            least[request] = min(gain, least.get(request, gain))
    return [
        least.get(request, 0.0) if reply.fault else gain
        for gain, request, reply in zip(gains, requests, replies, strict=True)
    ]


class Rewards:
    """The three rewards as TRL calls them, on the columns of the training data and the replies.

    criteria: whether replies have to have some. quote: characters of an answer that the last of them names,
    so that a reply without has the fault UNNAMED; 0 for none. `trainer` is to be set to the one that trains.
    """

    def __init__(
        self,
        tokenizer,
        weights: RewardWeights,
        max_length: int,
        token_budget: int,
        criteria: bool = True,
        quote: int = 0,
    ):
        self.tokenizer, self.criteria, self.quote = tokenizer, criteria, quote
        self.max_length, self.token_budget = max_length, token_budget
        self.trainer, self.share = None, False
        self.weights = list(weights.model_dump().values())

    def functions(self) -> list:
        """Return the rewards in the order of their weights."""
        return [getattr(self, name) for name in RewardWeights.model_fields]

    def correctness(self, prompts, completions, completion_ids, right, **kwargs) -> list[float]:
        """Return R_corr: 1 for the right verdict, else -1; a reply that is not in form has no verdict.

        right: the labels of the right answers. Source: arXiv 2509.21798."""
        replies = self._read(prompts, completions, completion_ids)
        return [1.0 if reply.verdict == label else -1.0 for reply, label in zip(replies, right, strict=True)]

    def appropriateness(self, prompts, completions, completion_ids, right, **kwargs) -> list[float]:
        """Return each reply's R_appr; 0 of judges that write no criteria."""
        if not self.criteria:
            return [0.0] * len(completions)
        replies = self._read(prompts, completions, completion_ids)
        limits = self.max_length, self.token_budget
        model = self.trainer.model  # not kept: training may wrap it
        asked = [prompt[-1]["content"] for prompt in prompts]
        return appropriateness(model, self.tokenizer, asked, replies, right, *limits, self.share)

    def layout(self, prompts, completions, completion_ids, log_metric, **kwargs) -> list[float]:
        """Return 1 for a reply in form, else -1, and log the share of each fault."""
        faults = [reply.fault for reply in self._read(prompts, completions, completion_ids)]
        for fault in TRAINING_FAULTS:
            log_metric(f"faults/{fault}", faults.count(fault) / len(faults))
        return [-1.0 if fault else 1.0 for fault in faults]

    def _read(self, prompts, completions, completion_ids) -> list[Reply]:
        replies = []
        for prompt, completion, ids in zip(prompts, completions, completion_ids, strict=True):
            ended = ids[-1] in self.trainer.eos_token_ids
            reply = read_reply(completion[-1]["content"], ended, self.criteria)
            named = not self.quote or names_an_answer(reply, prompt[-1]["content"], self.quote)
            replies.append(reply if reply.fault or named else Reply(reply.criteria, fault=UNNAMED))
        return replies


def names_an_answer(reply: Reply, request: str, quote: int) -> bool:
    """Return whether a reply's last criterion ends in an answer's last characters and label.

    quote: characters that the warm-up's criteria have of an answer; of longer quotes the last NAMED decide.
    """
    asked = " ".join(request.split())  # the warm-up names an answer on one line
    last = reply.criteria[-1] if reply.criteria else ""
    labels = [f" ({label})" for label in LABELS if last.endswith(f" ({label})")]
    return any(last[-min(quote, NAMED) - len(label) :] in asked for label in labels)
