"""What reaches into Snakemake privately, all in one module."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from polyreward.core.codehash import code_of, save_parsed
from polyreward.core.errors import PolyrewardError


def follow_code(rules, portable: bool) -> None:
    """Give each rule that runs a script a param `code`, the hash of its code; a job reruns when it changes.

    portable: also give each a param of that name, so that all is made again when the setting changes.
    """
    for rule in rules:
        if rule.script:
            code = code_of(_script_of(rule))
            rule.set_params(code=code, **({"portable": True} if portable else {}))
    save_parsed()


def mock_snakemake(
    script: Path,
    rule: str | None = None,
    wildcards: Mapping[str, str] | None = None,
    configfiles: Sequence = (),
):
    """Return what a script finds as `snakemake` in a job, without running Snakemake.

    Args:
        script: absolute; in `workflow/scripts/` of the project whose Snakefile is read.
        rule: the rule's name; the script's own where it is None.
        wildcards: the job's.
        configfiles: overlays on config.yaml.

    Raises:
        PolyrewardError: the rule does not run this script, wildcards do not fit, or inputs are missing.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.dag import DAG
    from snakemake.exceptions import WorkflowError
    from snakemake.iocontainers import Snakemake
    from snakemake.jobs import Job
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        ResourceSettings,
    )

    root = next(folder for folder in script.parents if (folder / "Snakefile").is_file())
    settings = ConfigSettings(configfiles=[Path(path) for path in configfiles])
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        try:
            read = api.workflow(ResourceSettings(cores=1), settings, snakefile=root / "Snakefile")
            workflow = read.dag(DAGSettings()).workflow_api._workflow
            found = _rule_of(workflow.rules, script, rule or script.stem, set(wildcards or {}))
            job = Job(found, DAG(workflow, rules=[found]), dict(wildcards or {}))
            parts = job.input, job.output, job.params, job.wildcards, job.threads, job.resources, job.log
        except WorkflowError as error:
            raise PolyrewardError(str(error)) from error
    missing = [path for path in job.input if not Path(path).exists()]
    if missing:
        raise PolyrewardError(
            f"rule {found.name}: {len(missing)} inputs are missing, the first is {missing[0]};"
            f" make them: snakemake --cores all {' '.join(missing[:3])}"
        )
    for path in (*job.output, *job.log):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    return Snakemake(*parts, workflow.config, found.name, None, script.parent)


def _rule_of(rules, script: Path, name: str, wildcards: set[str]):
    """Return the rule of a name, after checking that it runs the script and has these wildcards."""
    runs = {rule.name: rule for rule in rules if rule.script and _script_of(rule) == script}
    if name not in runs:
        raise PolyrewardError(
            f"{script}: rule `{name}` does not run it; name one that does:"
            f" --rule {' | '.join(sorted(runs)) or '(this scale has none)'}"
        )
    if runs[name].wildcard_names != wildcards:
        keys = " ".join(f"{key}=..." for key in sorted(runs[name].wildcard_names)) or "none"
        raise PolyrewardError(f"rule {name}: its wildcards are {keys}; give these as --wildcards")
    return runs[name]


def _script_of(rule) -> Path:
    return Path(rule.basedir.get_path_or_uri(secret_free=True), rule.script).resolve()
