# Load and check the configuration, the catalogs and the registry, and say what the scale makes. No rules and no functions here:
# those that rules share are in polyreward.running, and of a paper's part in polyreward.alignment, .carb and .think_as_locals.

import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

WORKFLOW = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
if not WORKFLOW.is_dir():
    raise WorkflowError(
        f"{WORKFLOW}: polyreward's rules need the clone that they stand in; clone it: docs/recipes/module.md"
    )
sys.path.insert(0, str(WORKFLOW / "scripts"))
# Snakemake imports our logger plugin from the environment, which may be another clone's; the rules' library is this one's.
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] == "polyreward" and not Path(module.__file__).is_relative_to(WORKFLOW):
        del sys.modules[name]

from polyreward.alignment.inputs import LABELLERS, Alignment
from polyreward.core.errors import PolyrewardError
from polyreward.ops.machine import cuda_devices
from polyreward.core.naming import TEXT_BASELINES, ModelName, one_of
from polyreward.core.yaml_files import check_settings_files, read_yaml
from polyreward.core.codehash import code_of
from polyreward.config.inputs import claims_of, notebook_settings, stacked_tables, transfer_notebook
from polyreward.ops.workflow import end_jobs_on_interrupt, follow_code, limit_jobs, site_of, stop_early
from polyreward.ops.jobs import PORTABLE
from polyreward.config.languages import with_folders
from polyreward.config.model_files import ModelFiles
from polyreward.config.project import Project
from polyreward.config.registry import Registry, by_language
from polyreward.ops.resources import JobResources
from polyreward.config.scale import Scale
from polyreward.config.schemas import check_schema
from polyreward.config.settings import Known, Places, check_catalogs, check_settings
from polyreward.config.translation import (
    Engine,
    engine_of,
    languages_brought,
    languages_translated,
    quality_rows,
)
from polyreward.sources.revisions import locked, read_lock


def read_checked(name, read=read_yaml):
    """Return what a file of workflow/ holds, checked against the schema of its name."""
    data = read(WORKFLOW / name)
    check_schema(data, WORKFLOW / name, WORKFLOW / f"schemas/{Path(name).name.split('.')[0]}.schema.yaml")
    return data


# Another workflow that uses this one as a module runs in a folder of its own.
PROJECT = Project(WORKFLOW.parent)
config.update(PROJECT.found(config))


def languages_there(scale):
    from polyreward.ops.preflight import (
        check_languages,
    )  # a tenth of a second that planning can do without

    try:
        for line in check_languages(scale, Path()):
            print(line, file=sys.stderr)
    except PolyrewardError as error:
        raise WorkflowError(str(error)) from None


try:
    check_settings_files(workflow.configfiles)
    KNOWN = Known(
        models=PROJECT.found(read_checked("catalog/models.yaml")),
        reward_models=PROJECT.found(read_yaml(WORKFLOW / "catalog/reward_models.yaml")),
        datasets=PROJECT.found(read_checked("catalog/datasets.yaml")),
        benchmarks=read_checked("catalog/benchmarks.yaml"),
        judge_questions=read_yaml(WORKFLOW / "catalog/judge_questions.yaml"),
        languages=with_folders(
            read_yaml(WORKFLOW.parent / "resources/languages.yaml"), config.get("language_folders"), Path()
        ),
    )
    CLAIMS = read_checked("claims.yaml")
    LOCK = read_checked("catalog/revisions.lock.yaml", read_lock)
    REGISTRY = read_checked("artifacts.yaml")
    check_catalogs(KNOWN)
    SETTINGS = check_settings(config, KNOWN, Places.given(workflow))
except PolyrewardError as error:
    raise WorkflowError(str(error)) from None

if SETTINGS.portable:
    os.environ.update(PORTABLE)  # jobs inherit it before they load a library

SCALE = Scale(SETTINGS, KNOWN)
PATHS = SCALE.paths
FILES = ModelFiles(SCALE)
RESOURCES = JobResources(SCALE, cuda_devices(), lambda: workflow.local_exec, site_of(workflow))
NAMES = {language: facts["name"] for language, facts in KNOWN.languages.items()}
ARTIFACTS = Registry(SCALE, by_language(REGISTRY, NAMES, SCALE.languages), report)
ALIGNMENT = Alignment(SCALE)
STACKED = stacked_tables(SCALE)
NOTEBOOKS = {"transfer": transfer_notebook(SCALE)}


wildcard_constraints:
    base=r"[A-Za-z0-9.-]+",
    model=r"[A-Za-z0-9.-]+_[a-z]{2,3}(_seed\d+)?",
    language=r"[a-z]{2,3}",
    rowset=one_of(["train", "dev", "prompts", *KNOWN.benchmarks]),
    benchmark=one_of(KNOWN.benchmarks),
    own=one_of(SCALE.own_benchmarks),
    scored=one_of([*KNOWN.benchmarks, *SCALE.own_benchmarks]),
    configured=one_of(SCALE.configured),
    catalogued=one_of(SCALE.catalogued),
    engine=r"[A-Za-z0-9.-]+",
    seed=r"(_seed\d+)?",  # of a reward model's name; the first one's has none
