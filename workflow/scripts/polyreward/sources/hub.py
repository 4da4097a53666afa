"""The Hugging Face hub: whole repositories at one commit, from the local cache if they are there."""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import httpx2
from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from polyreward.core.errors import PolyrewardError, UnavailableError
from polyreward.core.naming import COMMIT
from polyreward.core.seals import pickled
from polyreward.sources.model_folders import ADAPTERS, is_adapter

MODELS, DATASETS = "model", "dataset"  # kinds of repositories, as huggingface_hub names them
# What transformers loads: no second copy of the weights in another format, no pictures.
MODEL_FILES = ["*.json", "*.jinja", "*.model", "*.py", "*.txt"]
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
PICKLES = "pytorch_model*.bin"
SAFETENSORS = "*.safetensors"  # pickles, which may run code when they are read, are not fetched


def commit_of(repository: str, kind: str, revision: str) -> str:
    """Return the commit (40 hexadecimal digits) of a repository's branch or tag; of a commit, itself.

    Raises:
        PolyrewardError: the hub gives no commit.
    """
    if COMMIT.fullmatch(revision):
        return revision
    ask = partial(HfApi().repo_info, repository, repo_type=kind, revision=revision)
    return _answer(ask, repository, kind, revision).sha


def may_read(repository: str, kind: str) -> None:
    """Raise PolyrewardError unless the hub gives access to a repository's files, which may be gated."""
    _answer(partial(HfApi().auth_check, repository, repo_type=kind), repository, kind, "any revision")


def is_cached(repository: str, kind: str, revision: str) -> bool:
    """Return whether the cache has what is used of a repository, without asking the hub."""
    files, unwanted = ([*MODEL_FILES, SAFETENSORS], ADAPTERS) if kind == MODELS else (None, None)
    chosen = {"repo_type": kind, "revision": revision, "allow_patterns": files, "ignore_patterns": unwanted}
    try:
        snapshot_download(repository, **chosen, local_files_only=True)
    except LocalEntryNotFoundError:
        return False
    return True


def fetched(
    repository: str,
    kind: str,
    commit: str,
    files: Sequence[str] | None = None,
    unwanted: Sequence[str] | None = None,
) -> Path:
    """Download what the cache lacks of a repository at a commit; return its folder there.

    files, unwanted: patterns of files to take (None for all) and to leave out."""
    chosen = {"repo_type": kind, "revision": commit, "allow_patterns": files, "ignore_patterns": unwanted}
    return Path(_answer(partial(snapshot_download, repository, **chosen), repository, kind, commit))


def fetched_model(repository: str, commit: str, pickles: bool = False) -> Path:
    """Return the cache's folder of a model at a commit, without adapters.

    Args:
        pickles: take pickled weights where there are no others.

    Raises:
        PolyrewardError: it cannot be fetched, or has no whole weights.
    """
    folder = fetched(repository, MODELS, commit, [*MODEL_FILES, SAFETENSORS], ADAPTERS)
    if pickles and not list(folder.glob(SAFETENSORS)):
        return fetched(repository, MODELS, commit, [*MODEL_FILES, PICKLES], ADAPTERS)
    where = f"model {repository} at {commit}"
    if not (folder / "config.json").exists():
        raise UnavailableError(
            f"{where}: holds no config.json; name a repository of transformers' layout, or, for an adapter,"
            " one with the adapter merged into its base"
        )
    if not list(folder.glob(SAFETENSORS)):
        raise UnavailableError(f"{where}: {pickled(['weights of another format'])}")
    return folder


def copy_model(cached: Path, folder: Path) -> None:
    """Copy a model from the cache to its own folder; weights are hard links on the same file system."""
    for path in sorted(cached.rglob("*")):
        target = folder / path.relative_to(cached)
        if is_adapter(path) or path.match(PICKLES):  # in the cache for another program, or to be converted
            continue
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        if path.match(SAFETENSORS):
            with contextlib.suppress(OSError):  # another file system, or one without links
                os.link(path.resolve(), target)
                continue
        shutil.copyfile(path, target)


def _answer(ask: Callable, repository: str, kind: str, revision: str):
    """Call huggingface_hub; raise its errors as text that says how to fix them."""
    errors = (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, HFValidationError)
    try:
        return ask()
    except (*errors, httpx2.HTTPError, OSError) as error:
        # A miss in the cache may hide the hub's answer.
        answer = error.__cause__ if isinstance(error.__cause__, HfHubHTTPError) else error
        # What is gated counts as not found.
        gone = isinstance(answer, RepositoryNotFoundError | RevisionNotFoundError) or _status(answer) == 403
        reason = _reason(answer, repository, kind, revision)
        kind_of_error = UnavailableError if gone else PolyrewardError
        raise kind_of_error(f"{kind} {repository} at {revision}: {reason}") from error


def _status(error: Exception) -> int | None:
    return error.response.status_code if isinstance(error, HfHubHTTPError) else None


def _reason(error: Exception, repository: str, kind: str, revision: str) -> str:
    page = f"{constants.ENDPOINT}/{'datasets/' if kind == DATASETS else ''}{repository}"
    token = (
        "set HF_TOKEN to a read token of your account (from the hub's settings, Access Tokens), or run `hf"
        " auth login`"
    )
    if isinstance(error, GatedRepoError):
        return f"gated: its authors ask you to accept their terms. Do so on {page}, {token}, and run again"
    if isinstance(error, RevisionNotFoundError):
        return "the hub has the repository, but no such revision; correct `revision` where it is named"
    if isinstance(error, RepositoryNotFoundError):
        return (
            f"the hub knows no such repository, or it is private ({page}); correct `id` in workflow/catalog"
            f" or the name as it was given (of a folder, its path), or {token}"
        )
    if _status(error) == 401:
        return f"the hub refused the token; {token}"
    if _status(error) == 403:
        return f"the hub forbids it to your token: ask its authors on {page} for access, or {token}"
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return (
            f"the cache cannot be written ({error}); free some space there, or set HF_HOME to another folder"
        )
    if constants.HF_HUB_OFFLINE:
        at = "" if " " in revision else f" --revision {revision}"
        return (
            f"HF_HUB_OFFLINE is set, and the cache ({constants.HF_HUB_CACHE}) is missing a part. Unset it. Or"
            f" run `hf download {repository} --repo-type {kind}{at}` where there is a network and copy that"
            " machine's cache here. If you have a folder, give its path"
        )
    if isinstance(error, HfHubHTTPError):
        return f"the hub answered {_status(error)} ({error}); try again later"
    return (
        f"the connection to {constants.ENDPOINT} failed ({type(error).__name__}: {error}); run again when it"
        " is back: files that came whole are kept"
    )
