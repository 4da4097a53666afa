"""Put the project's files that commands read without a checkout into the wheel, below polyreward/project."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
FILES = (  # patterns; MANIFEST.in has them for the source archive
    # What score, inspect, compare, matrix and claims read
    "workflow/catalog/*.yaml",
    "workflow/papers/*/*.yaml",
    "workflow/papers/*/printed/*.csv",
    "workflow/report/page/*",
    "workflow/schemas/*",
    # What Snakemake reads for a dry run, by which gpu-check and plan go
    "Snakefile",
    "config.yaml",
    "docs/data/*/costs.csv",
    "resources/**/*.*",
    "workflow/artifacts.yaml",
    "workflow/accelerate/*.yaml",
    "workflow/notebooks/*.py",
    "workflow/report/*.rst",
    "workflow/rules/*.smk",
    "workflow/scales/*.yaml",
    "workflow/scripts/analyse/*.py",
    "workflow/scripts/artifacts/*.py",
    "workflow/scripts/prepare/*.py",
    "workflow/scripts/score/*.py",
    "workflow/scripts/sources/*.py",
    "workflow/scripts/train/*.py",
    "workflow/scripts/translate/*.py",
)


class BuildWithFiles(build_py):
    """Copy FILES; an editable install reads them in the checkout."""

    def run(self):
        """Build the packages, then copy."""
        super().run()
        if not self.editable_mode:
            for path in (path for pattern in FILES for path in sorted(HERE.glob(pattern))):
                target = Path(self.build_lib, "polyreward/project", path.relative_to(HERE))
                self.mkpath(str(target.parent))
                self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": BuildWithFiles})
