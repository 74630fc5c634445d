"""Tables in files: every form and packing, several files, and faults told in one line."""

import bz2
import gzip
import lzma

import polars as pl
import pytest

from pellucid.data import text_tables
from pellucid.data.table_files import FORMS, PACKINGS, infinite_cell, read_tables
from pellucid.data.text_tables import MISSING
from pellucid.errors import TableFileError
from pellucid.whole_files import whole_file

FRAME = pl.DataFrame(
    {"n": [1, 2, None], "x": [0.5, None, 1e9], "word": ["a", "b, c", None], "yes": [True, False, None]}
)


@pytest.mark.parametrize("suffix", FORMS)
def test_every_form(suffix, tmp_path):
    path = tmp_path / f"t{suffix}"
    with open(path, "wb") as file:
        writer = FORMS[suffix].writer(file)
        writer.write(FRAME)
        writer.close()
    assert read_tables(path).equals(FRAME)


@pytest.mark.parametrize("suffix", FORMS)
def test_rows_written_in_parts(suffix, tmp_path):
    path = tmp_path / f"t{suffix}"
    with whole_file(path) as file:
        writer = FORMS[suffix].writer(file)
        for row in range(FRAME.height):
            writer.write(FRAME[row : row + 1])
        assert not path.exists()
        writer.close()
    assert read_tables(path).equals(FRAME)


def packed(content, suffix):
    if suffix == ".zst":
        return pytest.importorskip("zstandard").compress(content)
    return {".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix].compress(content)


@pytest.mark.parametrize("suffix", PACKINGS)
def test_every_packing(suffix, tmp_path):
    path = tmp_path / f"t.csv{suffix}"
    path.write_bytes(packed(FRAME.write_csv().encode(), suffix))
    assert read_tables(path).equals(FRAME)
    path.write_bytes(b"no such thing")
    with pytest.raises(TableFileError, match="cannot be unpacked"):
        read_tables(path)


def test_patterns_and_several_files(tmp_path):
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.select(reversed(FRAME.columns)).write_parquet(tmp_path / "b.parquet")
    both = read_tables([tmp_path / "a.csv", tmp_path / "b.parquet"])
    assert both.equals(pl.concat([FRAME, FRAME]))
    assert read_tables(tmp_path / "*.csv").equals(FRAME)
    FRAME.drop("x").write_csv(tmp_path / "c.csv")
    with pytest.raises(TableFileError, match="missing: 'x'"):
        read_tables(tmp_path / "*.csv")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;b\r\n1;x\r\n", [(1, "x")]),
        ("a\tb\n1\tx\n", [(1, "x")]),
        ("a|b\n1|x\n", [(1, "x")]),
        (" a ,b\n1,NA\n", [(1, None)]),
        ('a,b\n1,"x\ny"\n\n', [(1, "x\ny")]),
        ("\ufeffa,b\n1,x\n", [(1, "x")]),
        ("a,b\n1,\n\n", [(1, None)]),
        ("a,b\n" + "1,x\n" * 20_000 + "z,x\n", [("1", "x")] * 20_000 + [("z", "x")]),
    ],
)
def test_ways_to_write_a_table(text, rows, tmp_path):
    (tmp_path / "t.csv").write_bytes(text.encode())
    frame = read_tables(tmp_path / "t.csv")
    assert frame.columns == ["a", "b"]
    assert frame.rows() == rows


def test_words_for_nothing_are_found_afterwards_as_while_reading(tmp_path):
    """Texts and floats are read without a look at such words: the table is the one that is read with it."""
    rows = ["1,0.5,x,NA", '2,nan,"N/A",y', ',-NaN,"",z', "4,inf,NULL,", '5,,"a ""NA"" b",None']
    late = "NA,1.#IND,NaN,w"
    for lines in (rows, [*rows * 3000, late], [late, *rows]):
        path = tmp_path / "t.csv"
        path.write_text("\n".join(["a,b,c,d", *lines]) + "\n")
        wanted = pl.read_csv(path, null_values=list(MISSING), infer_schema_length=None)
        assert read_tables(path).equals(wanted, null_equal=True)
        assert read_tables(path).schema == wanted.schema


@pytest.mark.parametrize("text", ["word", '"a word"', '"two\nlines"', '"a\n\nb\nc"'])
@pytest.mark.parametrize("late", ["7", "0.5", "NA", "x"])
def test_long_tables_are_told_by_their_first_rows(text, late, tmp_path, monkeypatch):
    """The first rows are read ahead of the others, as long as their texts do not run over several lines."""
    monkeypatch.setattr(text_tables, "LOOKED_AT", 20)
    monkeypatch.setattr(text_tables, "PIECE", 100)
    path = tmp_path / "t.csv"
    path.write_text("n,empty,text\n" + f"1,,{text}\n" * 15 + f"2,3,{text}\n" * 40 + f"{late},4,{text}\n")
    whole = pl.read_csv(path, null_values=list(MISSING), infer_schema_length=None)
    assert read_tables(path).equals(whole)


def test_utf16(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\nä,1\n".encode("utf-16"))
    assert read_tables(tmp_path / "t.csv").rows() == [("ä", 1)]


def test_columns_without_a_name(tmp_path):
    (tmp_path / "t.csv").write_text(",b\n0,1\n")
    assert read_tables(tmp_path / "t.csv").columns == ["column 1", "b"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\n\n", "is empty"),
        ("t.csv", b"a,b\n", "has no rows"),
        ("t.csv", b"a\n1\n", "one column only"),
        ("t.csv", b"a,b\n1,2,3\n", "line 2 has 3 cells, the first line has 2"),
        ("t.csv", b"a,b,c\n1,2,3\n1,2\n", "line 3 has 2 cells, the first line has 3"),
        ("t.csv", b'a,b,c\n"1",2,3\n1,2\n', "line 3 has 2 cells"),
        ("t.csv", b"a,b\n\xe4,1\n", "byte 0xe4 in line 2"),
        ("t.csv", b"a,a\n1,2\n", "several columns of one name, 'a'"),
        ("t.xls", b"a", "suffix '.xls' is not known"),
        ("t.parquet", b"abc", "cannot be read as Parquet"),
        ("t.jsonl", b'{"a": [1], "b": 2}\n', "column 'a' holds List"),
    ],
)
def test_faults(name, content, said, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableFileError) as error:
        read_tables(tmp_path / name)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_not_there(tmp_path):
    for name in ("none.csv", "*.csv", ""):
        with pytest.raises(TableFileError, match=r"no such file|matches|folder"):
            read_tables(tmp_path / name)


def test_infinite_numbers():
    assert infinite_cell(pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, float("-inf")]})) == ("y", 1)
    assert infinite_cell(pl.DataFrame({"x": ["1", "inf", None]})) == ("x", 1)
    assert infinite_cell(pl.DataFrame({"x": ["inf", "sup"], "y": [None, 1.0]})) is None
    assert infinite_cell(pl.DataFrame({"a": [1e308, 1e308], "b": [float("nan"), 1.0]})) is None
