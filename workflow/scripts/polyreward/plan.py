"""The plan of a run: settings, catalogs, sheet and registry, all checked, for the rules."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import check_settings_files, parsed_yaml, read_yaml
from polyreward.ops.machine import PORTABLE, cuda_devices
from polyreward.ops.resources import JobResources
from polyreward.ops.workflow import site_of
from polyreward.settings.carb import Carb, Perturbation
from polyreward.settings.messages import Places, parsed_settings
from polyreward.settings.model import Settings
from polyreward.settings.think_as_locals import ThinkAsLocals
from polyreward.sheet.catalogs import Catalog, Project, read_catalogs, read_checked
from polyreward.sheet.checks import check_catalogs, check_fit
from polyreward.sheet.data import quartet_choices
from polyreward.sheet.entries import Models
from polyreward.sheet.papers import Paper, read_papers
from polyreward.sheet.registry import Registry, registry_of
from polyreward.sheet.scorers import Sheet, sheet_of

# Mappings of settings whose order is that of a table's rows, or of tables
SHOWN_IN_ORDER = (("think_as_locals", "runs"), ("own_benchmarks",), ("reward_models",))


class Plan(NamedTuple):
    """What the rules take.

    project: where its own files are. papers: the folders of workflow/papers."""

    project: Project
    settings: Settings
    catalog: Catalog
    models: Models
    sheet: Sheet
    artifacts: Registry
    resources: JobResources
    papers: dict[str, Paper]

    def check_languages(self) -> None:
        """Print what each target language that brings a folder has of the scale's texts.

        Raises:
            WorkflowError: texts are missing or broken.
        """
        from polyreward.ops.preflight import check_languages  # takes a tenth of a second to import

        try:
            for line in check_languages(self.models, Path()):
                print(line, file=sys.stderr)
        except PolyrewardError as error:
            raise WorkflowError(str(error)) from None

    def check_quartets(self, jobs: Iterable) -> None:
        """Print which place quartets are too few for an interval, where they are among the jobs to run.

        Raises:
            WorkflowError: the topics, the cultures or carb.quartets.files are wrong.
        """
        if not any(job.rule.name == "carb_quartets" for job in jobs):
            return
        from polyreward.carb.culture.books import open_books
        from polyreward.carb.culture.comparison import few_topics  # brings scipy
        from polyreward.carb.culture.quartets import scale_quartets

        carb, schema = self.settings.carb, self.project.file("workflow/schemas/carb_topics.schema.yaml")
        choices, seed = quartet_choices(self.settings), self.settings.seed
        try:
            quartets, _ = scale_quartets(choices, carb.culture_file, carb.topics, schema, seed)
        except PolyrewardError as error:
            raise WorkflowError(str(error)) from None
        books = open_books(quartets, frozenset(), choices["open_books"], seed)
        for line in few_topics([*quartets, *books]):
            print(line, file=sys.stderr)


def read_plan(workflow, config: dict, report: Callable) -> Plan:
    """Read and check all that the rules need.

    Args:
        workflow: Snakemake's, while it reads a file of workflow/rules/.
        report: Snakemake's flag of a file that the report shows.

    Raises:
        WorkflowError: all that is wrong, with file and line.
    """
    folder = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
    if not folder.is_dir():
        raise WorkflowError(
            f"{folder}: polyreward's rules need the clone around them; clone it: docs/howto/module.md"
        )
    try:
        check_settings_files(workflow.configfiles)
        update_config(config, _with_types(workflow.config_settings.config))
        return _checked_plan(workflow, folder, config, report)
    except PolyrewardError as error:
        raise WorkflowError(str(error)) from None


def _with_types(value: Any) -> Any:
    """Return a value of --config as YAML has it, since Snakemake leaves lists and mappings of texts."""
    if isinstance(value, dict):
        return {key: _with_types(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_types(one) for one in value]
    try:
        return parsed_yaml(value) if isinstance(value, str) else value
    except yaml.YAMLError:
        return value


def _checked_plan(workflow, folder: Path, config: dict, report: Callable) -> Plan:
    # Another workflow that uses this one as a module runs in a folder of its own.
    lock = read_checked(folder / "catalog/revisions.lock.yaml", lambda path: read_yaml(path) or {})
    project = Project(folder.parent, lock)
    config = config if project.runs_here else project.found(_with_default_paths(config))
    places = Places.given(workflow)
    settings = in_one_order(parsed_settings(config, places), places)
    catalog = read_catalogs(project, settings.language_folders, Path())
    check_catalogs(catalog)
    check_fit(settings, catalog, places)
    if settings.portable:
        os.environ.update(PORTABLE)  # jobs inherit it before they load a library
    sheet = sheet_of(settings, catalog)
    return Plan(
        project=project,
        settings=settings,
        catalog=catalog,
        models=Models(settings, catalog),
        sheet=sheet,
        artifacts=registry_of(settings, catalog, read_checked(folder / "artifacts.yaml"), report),
        resources=JobResources(
            settings, catalog.models, sheet, cuda_devices(), lambda: workflow.local_exec, site_of(workflow)
        ),
        papers=read_papers(folder.parent),
    )


def in_one_order(value: Any, places: Places, key: tuple[str, ...] = ()) -> Any:
    """Return settings whose mappings have one order, whatever order a file has them in.

    Snakemake compares params as texts, so it would run a job again for names in another order. Names of the
    file that counts come first, as where Snakemake joins files."""
    if isinstance(value, BaseModel):
        given = {name: getattr(value, name) for name in value.model_fields_set}
        return value.model_copy(
            update={name: in_one_order(one, places, (*key, name)) for name, one in given.items()}
        )
    if not isinstance(value, dict):
        return value
    names = list(value)
    if key not in SHOWN_IN_ORDER and len(names) > 1:
        names.sort(key=lambda name: (places.rank((*key, name))[0], name))
    return {name: in_one_order(value[name], places, (*key, name)) for name in names}


def _with_default_paths(config: dict) -> dict:
    """Return a configuration that names the files of the project that settings have by default."""
    carb = Carb.model_fields
    found = {
        "carb": {
            "culture_file": carb["culture_file"].default,
            "topics": carb["topics"].default,
            "perturbation": {"wordings": Perturbation.model_fields["wordings"].default},
        },
        "think_as_locals": {"criteria": ThinkAsLocals.model_fields["criteria"].default},
    }
    update_config(found, config)
    return found
