"""Are the catalogs, the registry and the claims of the shape that their schemas describe?"""

from pathlib import Path

from jsonschema import Draft202012Validator

from polyreward.core.errors import raise_all
from polyreward.core.yaml_files import read_yaml


def check_schema(data: object, file: Path, schema: Path) -> None:
    """Raise PolyrewardError with every place at which a file's data are not as its schema says.

    Snakemake's own `validate` names only the first, and reads schemas with YAML's slow parser.
    """
    errors = Draft202012Validator(read_yaml(schema)).iter_errors(data)
    problems = [
        f"{'.'.join(map(str, error.absolute_path)) or 'the file'}: {error.message}" for error in errors
    ]
    raise_all(sorted(problems), str(file))
