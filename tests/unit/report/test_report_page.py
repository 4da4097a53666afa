"""The page of a results folder: what it shows, what it leaves out, and that it needs nothing else."""

import re
import shutil
from html.parser import HTMLParser

import pytest
from made_up_results import HOSTILE, page_of, write_made_up
from support import ROOT, checkout, refused

from polyreward import cli
from polyreward.core.errors import PolyrewardError
from polyreward.report.artifacts import files_of, sentences
from polyreward.report.page import write_page
from polyreward.report.rendering import policy_of
from polyreward.report.results import read_results

STYLE = (ROOT / "workflow/report/page/style.css").read_text(encoding="utf-8")


class Page(HTMLParser):
    """Ids, links, pictures {alternative text: source}, tags that are left open, and text of a page."""

    VOID = {"meta", "link", "img", "input", "br"}

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.pictures, self.open, self.texts = [], [], {}, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        if "id" in said:
            self.ids.append(said["id"])
        if tag == "a":
            self.links.append(said["href"])
        if tag == "img":
            self.pictures[said["alt"]] = said["src"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" not in self.open and "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A results folder and the text of its page, for tests that change neither."""
    results = write_made_up(tmp_path_factory.mktemp("report"))
    return results, page_of(results)


@pytest.fixture
def page(made):
    return Page(made[1])


def test_the_page_is_well_formed_and_each_id_stands_once(page):
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)


def test_whatever_a_file_holds_is_text(made, page):
    assert page.text.count(HOSTILE) >= 2  # the table's cell, the claim's note
    assert re.findall(r"<script\b", made[1]) == ["<script"]


def test_every_link_is_relative_and_leads_somewhere(made, page):
    some = {"table1.csv", "table1.html", "figure1.png", "figure1_words.csv", "compare/table1.csv"}
    assert some <= set(page.links)
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else (made[0] / link).is_file(), link


def test_links_of_a_page_elsewhere_lead_back(results):
    out = results.parents[1] / "elsewhere/page.html"
    found = Page(page_of(results, out))
    files = [link for link in found.links if not link.startswith("#")]
    assert "../results/tiny/table1.csv" in files
    assert all((out.parent / link).is_file() for link in files)


def test_made_twice_it_is_the_same_without_path_or_clock(results, tmp_path_factory):
    text = page_of(results)
    assert page_of(results) == text
    other = tmp_path_factory.mktemp("other") / "results/tiny"
    shutil.copytree(results, other, ignore=shutil.ignore_patterns("report.html"))
    assert page_of(other) == text
    assert str(results.parents[1]) not in text and str(ROOT) not in text
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", text)


def test_it_asks_for_nothing_and_its_policy_forbids_it(made):
    _, text = made
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", text) == []
    assert "@import" not in text and "url(" not in STYLE
    assert "default-src &#39;none&#39;" in text
    style = text.split("<style>")[1].split("</style>")[0]
    script = text.split("<script>")[1].split("</script>")[0]
    assert policy_of(style, script).replace("'", "&#39;") in text  # else a browser runs neither


def test_what_is_there_is_shown_and_the_rest_is_listed(page):
    text = page.text
    made, missing = text.split("Not made yet Everything at once:")
    for said in (
        *("Scale tiny: random two-layer models", "make results/tiny/table1.csv"),
        *("table1 in workflow/rules/artifacts.smk", "workflow/papers/transfer/printed/table1.csv"),
    ):
        assert said in made
    assert "language_table" not in text
    assert "make results/tiny/table3.csv" in missing and "make results/tiny/carb_figure1.png" in missing
    assert "make results/tiny/table1.csv" not in missing and "make results/tiny/figure1.png" not in missing


def test_figures_are_inside_with_words_in_their_place(page):
    assert all(source.startswith("data:image/png;base64,") for source in page.pictures.values())
    (alt,) = [alt for alt in page.pictures if alt.startswith("Figure 1 of this run. How alike")]
    assert alt.endswith("Its numbers are in figure1.csv.")


def test_ours_stand_beside_the_printed(page, results):
    assert "Spanish, English Avg. a b 50.0 79.3 -29.3 models and scale differ" in page.text
    # Table 2 as printed, as no comparison is there
    assert "ArmoRM-Llama3-8B-v0.1 classifier 90.4 80.1" in page.text
    assert "Not compared cell by cell yet: make results/tiny/compare/table2.csv" in page.text
    (results / "compare/table1.csv").unlink()
    said = "Not compared cell by cell yet: make results/tiny/compare/table1.csv"
    assert said in Page(page_of(results)).text


def test_without_claims_it_says_how_to_test_them_and_shows_one_papers(results):
    (results / "claims.csv").rename(results / "carb_claims.csv")
    assert "English is better." in Page(page_of(results)).text
    (results / "carb_claims.csv").unlink()
    said = "The claims are not tested yet. To test them: make results/tiny/claims.csv"
    assert said in Page(page_of(results)).text


def test_snakemakes_report_is_one_link_away_where_it_is(results):
    assert "make results/tiny/snakemake_report.html" in Page(page_of(results)).text
    (results / "snakemake_report.html").write_text("", encoding="utf-8")
    assert "snakemake_report.html" in Page(page_of(results)).links


def test_a_broken_picture_is_named(results):
    (results / "figure1.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(
        PolyrewardError, match="figure1.png: not a whole PNG file; remove it and make it again"
    ):
        page_of(results)


def test_an_empty_folder_says_what_to_run(tmp_path, capsys):
    (tmp_path / "results/tiny").mkdir(parents=True)
    assert cli.main(["report", str(tmp_path / "results/tiny")]) == 1
    said = capsys.readouterr().err
    assert "no table, figure or notebook is here yet; make one, as by `make results/tiny/table1.csv`" in said
    assert "`snakemake --cores all all --configfile workflow/scales/tiny.yaml`" in said
    assert not (tmp_path / "results/tiny/report.html").exists()


def test_an_empty_folder_names_the_scale_that_has_tables(tmp_path):
    project = checkout(tmp_path / "project")
    (project / "results/tiny").mkdir(parents=True)
    (project / "results/tiny/table1.csv").touch()
    text = refused(write_page, read_results(project / "results", (), project), tmp_path / "r.html", project)
    assert text.endswith("; or show results/tiny, which has tables: `make report RESULTS=results/tiny`")


def test_the_command_writes_the_page_and_names_what_is_missing(results, capsys):
    assert cli.main(["report", str(results)]) == 0
    said = capsys.readouterr().out
    assert "not made yet: Transfer paper, Table 3; make results/tiny/table3.csv\n" in said
    assert f"{results / 'report.html'}: 0." in said and (results / "report.html").is_file()


OF_ONE = {
    "carb_perturbation": ["carb_perturbation.csv", "carb_perturbation.md"],
    "figure2": ["figure2.csv", "figure2_ks.csv"],
    "notebook_carb": ["notebooks/carb.html", "notebooks/carb.ipynb"],
}


def test_a_file_belongs_to_one_artifact(results):
    (results / "notebooks").mkdir()
    for file in sum(OF_ONE.values(), []):
        (results / file).touch()
    found = read_results(results, [], ROOT)
    assert {name: files_of(found, name) for name in OF_ONE} == OF_ONE


@pytest.mark.parametrize(
    ("caption", "first", "rest"),
    [
        ("One. Two. Three.", "One.", "Two. Three."),
        ("Is it? Yes.", "Is it?", "Yes."),
        ("By class (Joshi et al. 2020). Marks: n.", "By class (Joshi et al. 2020).", "Marks: n."),
        ("Only one.", "Only one.", ""),
    ],
)
def test_a_captions_first_sentence_stands_out(caption, first, rest):
    assert sentences(caption) == (first, rest)
