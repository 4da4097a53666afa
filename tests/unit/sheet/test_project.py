"""Paths of the project, in its folder and as a module in another."""

from polyreward.sheet.catalogs import Project

SETTINGS = {
    "a": "resources/x.yaml",
    "b": ["workflow/none.yaml", "data/x.yaml", 3, None],
    "c": {"d": "resources/y.yaml"},
}


def test_in_the_checkout_paths_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path)
    assert project.file("resources/x.yaml") == "resources/x.yaml"
    assert project.found(SETTINGS) == SETTINGS


def test_elsewhere_a_path_of_the_project_leads_to_it_and_one_of_the_users_own_counts_first(
    tmp_path, monkeypatch
):
    root, outer = tmp_path / "polyreward", tmp_path / "outer"
    for folder, names in ((root, ("x", "y")), (outer, ("y",))):
        (folder / "resources").mkdir(parents=True)
        for name in names:
            (folder / f"resources/{name}.yaml").touch()
    monkeypatch.chdir(outer)
    assert Project(root).file("workflow/a") == f"{root}/workflow/a"
    assert Project(root).found(SETTINGS) == {**SETTINGS, "a": f"{root}/resources/x.yaml"}
