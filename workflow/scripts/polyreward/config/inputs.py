"""The files that tables and notebooks are put together from."""

from polyreward.config.scale import Scale
from polyreward.core.naming import ModelName
from polyreward.settings.model import Settings

# The parts of the configuration that a notebook may read: {notebook: keys}; all may read ALWAYS
NOTEBOOK_KEYS = {
    "transfer": ["bases", "source_language", "target_languages", "benchmarks", "reward_model_seeds"],
    "carb": ["carb"],
}
ALWAYS = ("results", "seed", "intervals")


def stacked_tables(scale: Scale) -> dict[str, list[str]]:
    """Return {table: the files of its rows} of tables that are put on top of each other, but CARB's."""
    paths = scale.paths
    each = [f"{benchmark}_{language}.csv" for benchmark in scale.benchmarks for language in scale.languages]
    return {
        "data_sources": [
            f"{paths.work}/2_prepared/{rowset}_counts.csv" for rowset in ("train", *scale.benchmarks)
        ],
        "baselines": [paths.analysis(f"scorers/{name}") for name in each],
        "subsets": [paths.analysis(f"subsets/{name}") for name in each],
        "kinds": [paths.analysis(f"kinds/{name}") for name in each],
        "twins": [paths.analysis(f"twins/{language}.csv") for language in scale.languages],
        "transfer_gap": [paths.analysis("transfer_gap.csv")],
        "translation_quality": [paths.analysis("translation_quality.csv")],
    }


def transfer_notebook(scale: Scale) -> list[str]:
    """Return the files of the transfer paper's notebook: artifacts, and pairs and scores behind Table 1."""
    artifacts = ["table1", "figure1", "figure2", "figure2_ks", "figure3", "figure3_judge"]
    settings = scale.settings
    main, targets = settings.benchmarks.main, settings.target_languages
    compared = [
        scale.paths.scores(main, str(ModelName(base, training, seed)), language)
        for base in scale.table1_bases
        for language in targets
        for training in (settings.source_language, language)
        for seed in settings.reward_model_seeds
    ]
    return [
        "workflow/catalog/benchmarks.yaml",
        *(scale.paths.artifact(f"{name}.csv") for name in artifacts),
        *(scale.paths.translated(main, language) for language in targets),
        *compared,
    ]


def claims_of(claims: dict[str, dict], paper: str) -> dict[str, dict]:
    """Return the claims of workflow/claims.yaml of a paper (transfer or carb)."""
    return {name: entry for name, entry in claims.items() if entry["paper"] == paper}


def notebook_settings(settings: Settings, notebook: str) -> dict:
    """Return what a notebook may know of the settings."""
    shown = settings.model_copy(update={"bases": settings.table1_bases or settings.bases})
    return {key: shown.model_dump()[key] for key in (*ALWAYS, *NOTEBOOK_KEYS[notebook])}
