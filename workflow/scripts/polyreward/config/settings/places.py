"""Where a setting stands: the file and the line of the YAML files that Snakemake was given."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

Key = tuple[str | int, ...]


class Places:
    """The files of a configuration, with those first whose settings count over the others', and what --config
    set."""

    def __init__(self, files: Sequence[str | Path], command_line: Mapping | None = None):
        self.files, self.command_line = files, command_line or {}
        self._trees: dict[str, yaml.Node | None] = {}

    @classmethod
    def given(cls, workflow: Any) -> "Places":
        """Return the places of a Snakemake workflow's configuration: of several overlays the last one
        counts."""
        overlays = [str(path) for path in workflow.overwrite_configfiles]
        own = [str(path) for path in workflow.configfiles if str(path) not in overlays]
        return cls([*reversed(overlays), *reversed(own)], workflow.config_settings.config)

    def of(self, key: Key) -> str:
        """Return `file:line` of a setting, or of the section that should hold it; `--config` for the command
        line's."""
        file, line = self.rank(key)
        return (
            "--config"
            if file < 0
            else f"{_short(self.files[file])}:{line}"
            if line
            else _short(self.files[file])
        )

    def rank(self, key: Key) -> tuple[int, int]:
        """Return which of the files holds a setting, -1 for the command line, and its line, 0 where it has
        none."""
        if _in_values(self.command_line, key):
            return -1, 0
        for length in range(len(key), 0, -1):
            for number, path in enumerate(self.files):
                line = _line(self._tree(str(path)), key[:length])
                if line:
                    return number, line
        return len(self.files) - 1, 0

    def _tree(self, path: str) -> yaml.Node | None:
        if path not in self._trees:
            try:
                self._trees[path] = yaml.compose(Path(path).read_text(encoding="utf-8"), yaml.SafeLoader)
            except (OSError, yaml.YAMLError):
                self._trees[path] = None
        return self._trees[path]


def _short(path: str | Path) -> str:
    path = Path(path)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _in_values(values: Any, key: Key) -> bool:
    for part in key:
        if not isinstance(values, Mapping) or part not in values:
            return bool(isinstance(part, int) and isinstance(values, list))
        values = values[part]
    return True


def _line(node: yaml.Node | None, key: Key) -> int | None:
    """Return the line, from 1, of a key or of an item of a list; None where a file does not have it."""
    line = None
    for part in key:
        if isinstance(node, yaml.MappingNode):
            found = [(name, value) for name, value in node.value if name.value == str(part)]
            if not found:
                return None
            name, node = found[-1]
            line = name.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            return None
    return line
