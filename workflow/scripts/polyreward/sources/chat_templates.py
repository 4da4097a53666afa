"""Chat templates by name, ours and TRL's, for bases without a usable one."""

from pathlib import Path

import trl

from polyreward.core.errors import PolyrewardError

# For a base model that never saw a chat template. The conversation ends with the answer's last token, where
# a pretrained model knows most about it. After unknown markup it would know little.
PLAIN = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] not in ['system', 'user', 'assistant'] %}"
    "{{ raise_exception('it has no role ' ~ message['role']) }}{% endif %}"
    "{{ '\\n' if not loop.first }}{{ {'system': 'S', 'user': 'Q',"
    " 'assistant': 'A'}[message['role']] }}: {{ message['content'] | trim }}{% endfor %}{% if"
    " add_generation_prompt %}{{ '\\nA:' }}{% endif %}"
)

# ChatML with no system prompt of its own.
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{%"
    " endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
OURS = {"plain": PLAIN, "chatml": CHATML}


def chat_template(name: str) -> str:
    """Return a chat template by its name: one of ours, or one that TRL ships (`gemma3`)."""
    shipped = {path.stem: path for path in (Path(trl.__file__).parent / "chat_templates").glob("*.jinja")}
    if name in OURS:
        return OURS[name]
    if name not in shipped:
        raise PolyrewardError(
            f"chat_template `{name}` is unknown; use one of {', '.join([*OURS, *sorted(shipped)])}"
        )
    return shipped[name].read_text(encoding="utf-8")
