"""Put the project's files that commands read without a checkout into the wheel, below polyreward/project."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
FILES = (  # patterns; MANIFEST.in has them for the source archive
    "resources/languages.yaml",
    "workflow/catalog/*.yaml",
    "workflow/papers/*/*.yaml",
    "workflow/papers/*/printed/*.csv",
    "workflow/report/page/*",
    "workflow/schemas/*",
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
