"""The shape of catalogs: all faults are reported at once, with their places."""

import json

from support import ROOT, refused

from polyreward.core.yaml_files import read_yaml
from polyreward.sheet.catalogs import read_checked


def test_all_that_is_wrong_is_told_at_once_with_its_place(tmp_path):
    path, models = tmp_path / "models.yaml", read_yaml(ROOT / "workflow/catalog/models.yaml")
    first, second, *_ = models
    models[first]["colour"] = "red"
    del models[second]["source"]
    path.write_text(json.dumps(models))
    heading, *lines = refused(read_checked, path).splitlines()
    assert heading.endswith("models.yaml: 2 problems")
    assert any(line.startswith(f"  - {first}: ") and "'colour'" in line for line in lines)
    assert any(line.startswith(f"  - {second}: ") and "'source'" in line for line in lines)
    path.write_text("[]")
    assert "models.yaml: 1 problem\n  - the file: " in refused(read_checked, path)
