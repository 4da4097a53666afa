"""Tables 1 to 7 of the transfer paper in their printed layout, with intervals."""

import pandas as pd
from babel import Locale

SECTION_NAMES = {"chat": "Chat", "chat_hard": "Chat(H)", "safety": "Safety", "reasoning": "Reason"}
TRAINING_NAMES = {"target": "Target", "english": "English", "delta": "\u0394"}


def display_table1(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out Table 1 in text cells as the paper does: languages down, bases across.

    The average carries its interval in brackets, over n templates, and a difference its sign. n is given per
    language where they differ. Hard pairs have a column where there are some. confidence: the interval's
    level, as text ("95%")."""
    sizes, records = table.groupby("eval_language")["n_templates"].first(), []
    hard = table["n_hard"].dropna().unique()
    pairs = f", n={hard[0]} pairs" if len(hard) == 1 else ""
    sections = SECTION_NAMES | ({"hard": f"Hard{pairs}"} if len(hard) else {})
    same = sizes.nunique() == 1
    average = f"Avg. [{confidence}]" + (f", n={sizes.iloc[0]}" if same else "")
    for language in table["eval_language"].unique():
        for training, training_name in TRAINING_NAMES.items():
            name = _name(language) if same else f"{_name(language)}, n={sizes[language]}"
            record = {("", "RewardBench"): name, ("", "RM"): training_name}
            for base in table["base_model"].unique():
                key = (
                    (table["base_model"] == base)
                    & (table["eval_language"] == language)
                    & (table["rm_training"] == training)
                )
                (row,) = table[key].to_dict("records")
                sign = "+" if training == "delta" else ""
                for section, section_name in sections.items():
                    record[base, section_name] = _section(row, section, sign)
                record[base, average] = _average(row, sign)
            records.append(record)
    return pd.DataFrame(records).set_axis(pd.MultiIndex.from_tuples(records[0]), axis=1)


def display_language_table(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out a language's table in text cells, a row per reward model; averages are over n templates."""
    shown = pd.DataFrame(
        {
            "Base": table["base_model"].fillna(table["reward_model"]),
            "RM": [_name(language) if isinstance(language, str) else "" for language in table["rm_training"]],
        }
    )
    for section, name in SECTION_NAMES.items():
        shown[name] = [_section(row, section, "") for row in table.to_dict("records")]
    averages = [_average(row, "") for row in table.to_dict("records")]
    return shown.assign(**{f"Avg. [{confidence}], n={table['n_templates'].max():.0f}": averages})


def display_ready_made(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Lay out Table 2 in text cells: a row per reward model with its average on each language."""
    cells = [_average(row, "") for row in table.to_dict("records")]
    shown = table.assign(cell=cells).pivot(
        index=["reward_model", "kind"], columns="eval_language", values="cell"
    )
    shown = shown.loc[
        list(dict.fromkeys(zip(table["reward_model"], table["kind"], strict=True))),
        table["eval_language"].unique(),
    ]
    sizes = table.groupby("eval_language")["n_templates"].max()
    shown.columns = [
        f"{_name(language)} [{confidence}], n={sizes[language]:.0f}" for language in shown.columns
    ]
    return shown.reset_index().rename(columns={"reward_model": "Reward model", "kind": "Kind"})


def _name(language: str) -> str:
    return Locale.parse(language).get_language_name("en") or language


def _section(row: dict, section: str, sign: str) -> str:
    """Return a section's score with its interval in whole points, since it is from few templates."""
    if pd.isna(row[section]):
        return ""
    return f"{row[section]:{sign}.1f} [{row[f'{section}_low']:{sign}.0f}, {row[f'{section}_high']:{sign}.0f}]"


def _average(row: dict, sign: str) -> str:
    """Return an average with its interval, and its standard deviation over several seeds."""
    if pd.isna(row["avg"]):
        return "missing"
    spread = row.get("avg_sd", float("nan"))
    over_seeds = "" if pd.isna(spread) else f" ± {spread:.1f}"
    return f"{row['avg']:{sign}.1f}{over_seeds} [{row['avg_low']:{sign}.1f}, {row['avg_high']:{sign}.1f}]"
