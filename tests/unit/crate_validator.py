"""Validates a crate by rocrate-validator, in the environment that has it: crate_validator.py FOLDER.

It prints what is wrong as a list of JSON. RO-Crate's own context is a page on the network; those of its terms
that our crates use stand in for it here, so that a misspelled one is found, too."""

import json
import sys

from rocrate_validator import models, services
from rocrate_validator.utils import http

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
SCHEMA, BIOSCHEMAS = "http://schema.org/", "https://bioschemas.org/"
TERMS = {
    **{
        name: SCHEMA + name
        for name in (
            "CreateAction", "CreativeWork", "Dataset", "ComputerLanguage", "SoftwareApplication", "SoftwareSourceCode", "about",
            "actionStatus", "alternateName", "contentSize", "datePublished", "description", "endTime", "hasPart", "identifier",
            "instrument", "license", "mainEntity", "mentions", "name", "object", "programmingLanguage", "result",
            "softwareVersion", "startTime", "url", "version",
        )
    },
    "File": SCHEMA + "MediaObject",
    "ComputationalWorkflow": BIOSCHEMAS + "ComputationalWorkflow",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
    "Profile": "http://www.w3.org/ns/dx/prof/Profile",
}  # fmt: skip


class Reply:
    """A response with the context."""

    status_code, headers = 200, {"Content-Type": "application/ld+json"}
    text = json.dumps({"@context": TERMS})
    content = text.encode()

    def json(self):
        return {"@context": TERMS}


def get(self, url, *_, **__):
    if url != CONTEXT:
        raise RuntimeError(f"{url}: asked for, and there is no network")
    return Reply()


def main():
    http.HttpRequester.get = get
    settings = services.ValidationSettings(
        rocrate_uri=sys.argv[1],
        profile_identifier="provenance-run-crate-0.5",
        requirement_severity=models.Severity.REQUIRED,
    )
    issues = services.validate(settings).get_issues()
    print(json.dumps(sorted({f"{issue.check.identifier}: {issue.message}" for issue in issues})))


if __name__ == "__main__":
    main()
