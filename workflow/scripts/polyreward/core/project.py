"""Where the project's own files are: in its checkout, or in the wheel, which has those that commands read."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CHECKOUT = PACKAGE.parents[2]
IN_CHECKOUT = PACKAGE == CHECKOUT / "workflow/scripts/polyreward"
ROOT = CHECKOUT if IN_CHECKOUT else PACKAGE / "project"  # setup.py puts them there
