"""Published words of questions to judges: fetched from their authors' repositories and checked by hash."""

import ast
import hashlib
import re
from collections.abc import Iterator

import httpx2

from polyreward.core.errors import PolyrewardError, raise_all

CATALOG = "workflow/catalog/judge_wordings.yaml"
OTHERWISE = "set `judge_wordings: ours`, or name a file with these words in `judge_questions`"
CHATML = re.compile(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>", re.DOTALL)
TIMEOUT_S = 60


def published_question(wording: dict) -> dict:
    """Fetch a question's published words, by an entry of CATALOG; return it as a file of `judge_questions`.

    Raises:
        PolyrewardError: there is no connection or no such file, or a string is missing or another one.
    """
    url = wording["url"]
    source = _downloaded(url)
    strings = dict(_python_strings(source)) if url.endswith(".py") else _chat_messages(source)
    texts, problems = {}, []
    for key in ("system", "text"):
        name, pinned = wording[key]["name"], wording[key]["sha256"]
        texts[key] = strings.get(name, "")
        found = hashlib.sha256(texts[key].encode()).hexdigest()
        if name not in strings:
            problems.append(f"it holds no string `{name}`")
        elif found != pinned:
            problems.append(f"`{name}` has the sha256 {found}, not {pinned}")
    raise_all(problems, f"{url}, whose words {CATALOG} pins; correct it, or {OTHERWISE}")
    places = wording["places"]
    theirs = re.compile(r"\{(" + "|".join(places) + r")\}")
    ours = {key: theirs.sub(lambda found: f"{{{places[found[1]]}}}", text) for key, text in texts.items()}
    return {**ours, "verdicts": wording["verdicts"], "pattern": wording["pattern"]}


def _downloaded(url: str) -> str:
    try:
        response = httpx2.get(url, timeout=TIMEOUT_S, follow_redirects=True).raise_for_status()
    except httpx2.HTTPStatusError as error:
        raise PolyrewardError(
            f"{url}: the server answered {error.response.status_code}; correct `url` in {CATALOG} if the file"
            f" has moved, or {OTHERWISE}"
        ) from None
    except httpx2.HTTPError as error:
        raise PolyrewardError(
            f"{url}: the connection failed ({type(error).__name__}: {error}); run again when there is a"
            f" network, or {OTHERWISE}"
        ) from None
    return response.content.decode("utf-8", errors="replace")


def _python_strings(source: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the strings that a module assigns, NAME.key for those in a dictionary.

    The module is parsed and not run."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError):  # a page instead of the file
        return
    for statement in statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name, value = statement.targets[0].id, statement.value
            named = [(name, value)]
            if isinstance(value, ast.Dict):
                keys = zip(value.keys, value.values, strict=True)
                named = [(f"{name}.{key.value}", one) for key, one in keys if isinstance(key, ast.Constant)]
            for place, one in named:
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield place, one.value


def _chat_messages(source: str) -> dict[str, str]:
    """Return the messages of a text in ChatML by role, stripped as AlpacaEval strips them."""
    return {role: text.strip() for role, text in CHATML.findall(source)}
