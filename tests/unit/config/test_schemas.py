"""The shape of catalogs: all faults are reported at once, with their places."""

import pytest
from support import ROOT

from polyreward.config.schemas import check_schema
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml

SCHEMA = ROOT / "workflow/schemas/models.schema.yaml"


def test_all_that_is_wrong_is_told_at_once_with_its_place():
    models = read_yaml(ROOT / "workflow/catalog/models.yaml")
    first, second, *_ = models
    models[first]["colour"] = "red"
    del models[second]["source"]
    with pytest.raises(PolyrewardError) as caught:
        check_schema(models, ROOT / "models.yaml", SCHEMA)
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("models.yaml: 2 problems")
    assert any(line.startswith(f"  - {first}: ") and "'colour'" in line for line in lines)
    assert any(line.startswith(f"  - {second}: ") and "'source'" in line for line in lines)
    with pytest.raises(PolyrewardError, match="models.yaml: 1 problem\\n  - the file: "):
        check_schema([], ROOT / "models.yaml", SCHEMA)
