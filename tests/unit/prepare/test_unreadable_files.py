"""Files that hold no table of pairs, whatever they are called: each is named, with what it is."""

import contextlib
import gc
import gzip
import io
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_data import PAIR, WRITERS
from support import refused

from polyreward.core.errors import PolyrewardError
from polyreward.prepare.pair_files import read_pair_file, read_pairs


def parquet_with_a_column_twice():
    arrays = [pa.array([text]) for text in "abcd"]
    pq.write_table(pa.table(arrays, ["prompt", "chosen", "chosen", "rejected"]), stream := io.BytesIO())
    return stream.getvalue()


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 134217728\n"
# (name, content, words of the error)
FILES = [
    ("a.csv", "prompt,chosen\na,b\n", "no layout of pairs has these columns: `prompt`, `chosen`"),
    ("a.csv", "", "holds no row"),
    ("a.csv", "prompt,chosen,rejected\na,b\n", "a.csv:2: `rejected` is empty"),
    ("a.csv", 'prompt,chosen,rejected\na,"b\nc",d\na,b,c,d\n', "a.csv:4: has more cells than there are columns"),
    ("a.csv", b"prompt,chosen,rejected\na,b,\xff\n", "not UTF-8 (byte"),
    ("a.parquet", "PAR2", "not a Parquet file"),
    ("a.xlsx", "x", "cannot read `.xlsx` files; save it as one of .jsonl"),
    ("a.jsonl.gz", "x", "a.jsonl.gz:1: not JSON"),
    ("a.jsonl", LFS, "is a Git LFS pointer, not the file itself; run `git lfs pull`"),
    ("a.csv.gz", LFS, "is a Git LFS pointer"),
    ("a.parquet", LFS, "is a Git LFS pointer"),
    ("a.jsonl", gzip.compress(LFS.encode(), mtime=0), "is a Git LFS pointer"),
    ("a.json", "\n <!DOCTYPE html>\n<html></html>", "is a web page (HTML); download the file itself"),
    ("a.parquet", "<HTML>", "is a web page"),
    ("a.csv", '<?xml version="1.0"?><Error/>', "is XML, such as a server's error"),
    ("a.csv", b"PK\x03\x04\x14\x00", "as an Excel workbook is"),
    ("a.csv", b"\xd0\xcf\x11\xe0\xa1", "is an old Excel workbook"),
    ("a.json", b"ARROW1\0\0", "is an Arrow file, as datasets keeps them"),
    ("a.json", '{\n "prompt": "a"\n}\n{\n "prompt": "b"\n}\n', "write one object a line, as `jq -c .` does"),
    ("a.jsonl", '["a", "b"]\n["c", "d"]\n', "write one object a line, as `jq -c .` does"),
    ("a.parquet.gz", gzip.compress(b"PAR1", mtime=0)[:12], "not a Parquet file (Compressed file ended"),
    ("a.csv", 'prompt,chosen,rejected\na,"b\nb",c\na,b,"c\nd,e,f\n', "a.csv:4: in the row that begins here, a quote is not closed"),
    ("a.csv", 'prompt,chosen,rejected\na,"b,c\nd,"e",f\n', "a.csv:2: in the row that begins here, a quote is not closed"),
    ("a.csv", 'sep=;\nprompt;chosen;rejected\na;b;"c\n', "a.csv:3: in the row that begins here, a quote is not closed"),
    ("a.csv", 'prompt,"chosen,rejected\na,b,c\n', "a.csv:1: in the row that begins here, a quote is not closed"),
    ("a.csv", "prompt,chosen,rejected\na,b,c\n\na,b\n", "a.csv:4: `rejected` is empty"),
    ("a.jsonl", json.dumps(PAIR) + "\n\n{}\n", "a.jsonl:2: the line is empty"),
    ("a.json", json.dumps({"train": [PAIR], "test": [PAIR]}), "holds several tables (train, test)"),
    ("a.json", "[1, 2", "not JSON"),
    ("a.jsonl", "[1]", "item 1: 1: not an object; write {...} for each item"),
    ("a.csv", "prompt,chosen,chosen,rejected\na,b,c,d\n", "has the column `chosen` more than once"),
    ("a.parquet", parquet_with_a_column_twice(), "has the column `chosen` more than once"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), FILES)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    text = refused(read_pairs, path)
    assert words in text and str(path) in text


def test_reading_leaves_the_search_for_cycles_on(tmp_path):
    path = tmp_path / "a.jsonl"
    for content in (json.dumps(PAIR), "{}"):
        path.write_text(content + "\n")
        with contextlib.suppress(PolyrewardError):
            read_pairs(path)
        assert gc.isenabled()


def zstd(content):
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as compressed:
        compressed.write(content)
    return stream.getvalue().to_pybytes()


LINE = json.dumps(PAIR).encode() + b"\n"
TABLE = "prompt,chosen,rejected\n2 + 2?,4,5\n"
# Files that are read although their names or first bytes are not the usual ones
UNUSUAL = {
    "compressed.jsonl": gzip.compress(LINE, mtime=0),
    "plain.jsonl.gz": LINE,
    "pairs.jsonl.zst": zstd(LINE),
    "pairs.csv.zst": zstd(TABLE.encode()),
    "powershell.jsonl": LINE.decode().encode("utf-16"),
    "unicode_text.csv": TABLE.replace(",", "\t").encode("utf-16"),
    "big_endian.csv": b"\xfe\xff" + TABLE.encode("utf-16-be"),
    "excel.csv": b"\xef\xbb\xbfsep=;\r\n" + TABLE.replace(",", ";").encode(),
    "parquet.jsonl": WRITERS[".parquet"]([PAIR]),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_first_bytes_tell_what_a_file_is(tmp_path, name):
    (tmp_path / name).write_bytes(UNUSUAL[name])
    (row,) = read_pair_file(tmp_path / name).rows
    assert {key: row[key] for key in PAIR} == PAIR


def test_a_line_below_a_delimiter_of_excel_s_has_its_number(tmp_path):
    (tmp_path / "a.csv").write_text("sep=;\nprompt;chosen;rejected\na;b;c\na;;c\n")
    assert "a.csv:4: `chosen` is empty" in refused(read_pairs, tmp_path / "a.csv")


def test_a_pipe_is_refused_by_name(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    assert "a.jsonl: a pipe or a device; write its content to a file" in refused(
        read_pairs, tmp_path / "a.jsonl"
    )


@pytest.mark.parametrize("first", ['{"prompt": "q",', '{"prompt": "q" "a"}', "hello"])
def test_a_broken_first_line_hides_no_other(tmp_path, first):
    (tmp_path / "a.jsonl").write_text(f'{first}\n{json.dumps(PAIR)}\n{{"prompt":\n')
    text = refused(read_pairs, tmp_path / "a.jsonl")
    for words in ("2 problems", ":1: not JSON", ":3: not JSON"):
        assert words in text


def test_a_folder_is_refused(tmp_path):
    assert "a folder; name one of the files in it" in refused(read_pairs, tmp_path)
