"""The plan of a run: settings, catalogs and registry, all checked, and what the rules take from them."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

from polyreward.carb.inputs import Carb
from polyreward.config.catalogs import Known, read_catalogs, read_checked
from polyreward.config.inputs import stacked_tables, transfer_notebook
from polyreward.config.model_files import ModelFiles
from polyreward.config.project import Project
from polyreward.config.registry import Registry, registry_of
from polyreward.config.scale import Scale
from polyreward.config.settings import Places, check_catalogs, check_fit, parsed_settings
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import check_settings_files, parsed_yaml
from polyreward.ops.jobs import PORTABLE
from polyreward.ops.machine import cuda_devices
from polyreward.ops.resources import JobResources
from polyreward.ops.workflow import site_of
from polyreward.settings.carb import Carb as CarbSettings
from polyreward.settings.carb import Perturbation
from polyreward.settings.model import Settings
from polyreward.settings.think_as_locals import ThinkAsLocals as JudgeSettings
from polyreward.sources.revisions import read_lock
from polyreward.think_as_locals.inputs import ThinkAsLocals


@dataclass(frozen=True)
class Plan:
    """What the rules take. project: where its own files are. resources: what jobs ask for."""

    project: Project
    settings: Settings
    known: Known
    claims: dict
    revisions: dict
    artifacts: Registry
    resources: JobResources
    scale: Scale
    files: ModelFiles
    carb: Carb
    judges: ThinkAsLocals

    @cached_property
    def stacked(self) -> dict[str, list[str]]:
        """{table: the files of its rows} of tables that are put on top of each other."""
        paths = self.scale.paths
        return {
            **stacked_tables(self.scale),
            "carb_construction": [paths.carb_step("counts.csv")],
        }

    @cached_property
    def notebooks(self) -> dict[str, list[str]]:
        """{notebook: the files that it reads}."""
        return {"transfer": transfer_notebook(self.scale), "carb": self.carb.notebook}

    def check_languages(self) -> None:
        """Print what each target language that brings a folder has of the scale's texts.

        Raises:
            WorkflowError: texts are missing or broken.
        """
        from polyreward.ops.preflight import check_languages  # takes a tenth of a second to import

        try:
            for line in check_languages(self.scale, Path()):
                print(line, file=sys.stderr)
        except PolyrewardError as error:
            raise WorkflowError(str(error)) from None


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
    project = Project(folder.parent)
    config = config if project.runs_here else project.found(_with_default_paths(config))
    places = Places.given(workflow)
    settings = parsed_settings(config, places)
    known = read_catalogs(project, settings.language_folders, Path())
    check_catalogs(known)
    check_fit(settings, known, places)
    if settings.portable:
        os.environ.update(PORTABLE)  # jobs inherit it before they load a library
    scale = Scale(settings, known)
    files = ModelFiles(scale)
    carb = Carb(scale, files)
    return Plan(
        project=project,
        settings=settings,
        known=known,
        claims=read_checked(folder / "claims.yaml"),
        revisions=read_checked(folder / "catalog/revisions.lock.yaml", read_lock),
        artifacts=registry_of(scale, read_checked(folder / "artifacts.yaml"), report),
        resources=JobResources(scale, cuda_devices(), lambda: workflow.local_exec, site_of(workflow)),
        scale=scale,
        files=files,
        carb=carb,
        judges=ThinkAsLocals(carb),
    )


def _with_default_paths(config: dict) -> dict:
    """Return a configuration that names the files of the project that settings have by default."""
    carb = CarbSettings.model_fields
    found = {
        "carb": {
            "culture_file": carb["culture_file"].default,
            "topics": carb["topics"].default,
            "perturbation": {"wordings": Perturbation.model_fields["wordings"].default},
        },
        "think_as_locals": {"criteria": JudgeSettings.model_fields["criteria"].default},
    }
    update_config(found, config)
    return found
