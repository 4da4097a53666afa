"""The lock of a folder where it cannot be had; tests/workflow/test_two_runs.py has the rest."""

from polyreward.ops.folder_lock import RUN, hold_folder, join_folder


def test_a_run_says_where_a_folder_cannot_be_locked_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    RUN.mkdir(parents=True)  # no file system without locks is at hand; a folder cannot be opened for writing
    hold_folder()
    said = capsys.readouterr().err
    assert said.startswith(f"{tmp_path}: cannot be locked ([Errno 21] Is a directory")
    assert said.endswith("Start none before this one ends\n")


def test_a_job_without_snakemake_needs_no_lock_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    join_folder()
    assert list(tmp_path.iterdir()) == []
