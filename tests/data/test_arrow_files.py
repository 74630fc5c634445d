"""Files as blocks: formats by their endings, columns that must agree, damage told with the file's name."""

import lzma

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from pellucid.data import dataset
from pellucid.data.arrow_files import FilesError, is_read_in_parts

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "y": [0, 1, 0]})


def rows(data):
    return np.concatenate([batch[0] for batch in data.batches(2)]).tolist()


def test_whole_numbers_and_decimals_of_several_files_become_decimals(tmp_path):
    FRAME.to_parquet(tmp_path / "1.parquet")
    FRAME.assign(a=[0.25, 0.5, 0.75])[["y", "b", "a"]].to_parquet(tmp_path / "2.parquet")
    data = dataset(tmp_path, target="y", columns=["a"])
    assert rows(data) == [[1.0], [2.0], [3.0], [0.25], [0.5], [0.75]]


def test_other_columns_in_another_file_are_told(tmp_path):
    FRAME.to_parquet(tmp_path / "1.parquet")
    FRAME.rename(columns={"b": "z"}).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(
        ValueError, match=r"2.parquet: its columns are not those of .*1.parquet: it lacks b, and it has z"
    ):
        dataset(str(tmp_path / "*.parquet"), target="y")
    FRAME.assign(b=["x", "y", "z"]).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"1.parquet and others: .*b"):
        dataset(str(tmp_path / "*.parquet"), target="y")


def test_formats_are_told_by_endings(tmp_path):
    FRAME.to_parquet(tmp_path / "1.parquet")
    FRAME.to_csv(tmp_path / "2.csv", index=False)
    FRAME.to_csv(tmp_path / "3.odd", index=False)
    with pytest.raises(ValueError, match="several formats, csv, parquet"):
        dataset([tmp_path / "1.parquet", tmp_path / "2.csv"], target="y")
    with pytest.raises(ValueError, match=r"3.odd: the ending says no format that is read \(\.parquet"):
        dataset(tmp_path / "3.odd", target="y")


def test_csv_may_go_on_with_decimals_and_with_text_in_an_empty_column(tmp_path):
    """Types are guessed from the first rows."""
    many = pd.DataFrame({"a": np.arange(300_000), "gap": None, "y": 1})
    many["a"] = many["a"].astype(object)
    many.loc[299_999, "a"] = 0.5
    many.to_csv(tmp_path / "1.csv", index=False)
    data = dataset(tmp_path / "1.csv", target="y", columns=["a"])
    assert rows(data)[-1] == [0.5]
    target = next(iter(data.batches(8)))[1]
    assert target.dtype.kind == "i"  # classes stay whole numbers
    assert "gap" in dataset(tmp_path / "1.csv", target="y").columns


def test_damage_is_one_line_with_the_file(tmp_path):
    whole, broken = tmp_path / "1.parquet", tmp_path / "2.parquet"
    pyarrow.parquet.write_table(pa.table({"a": np.random.default_rng(0).normal(size=50_000), "y": [0] * 50_000}), whole)
    broken.write_bytes(whole.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"2.parquet"):
        dataset(broken, target="y")
    data = dataset(whole, target="y")
    content = bytearray(whole.read_bytes())
    content[2000:3000] = b"\0" * 1000
    content[4:2000] = b"\xff" * 1996
    whole.write_bytes(content)
    with pytest.raises(ValueError, match=r"1.parquet: [^\n]*$"):
        list(data.batches(64))
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("a,y\n1,2\n3,4,5\n")
    with pytest.raises(ValueError, match=r"ragged.csv: [^\n]*$"):
        list(dataset(ragged, target="y").batches(64))


def test_files_without_rows_are_passed_over(tmp_path):
    FRAME.iloc[:0].to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match="the data set is empty"):
        dataset(tmp_path, target="y")
    FRAME.to_parquet(tmp_path / "2.parquet")
    assert dataset(tmp_path, target="y").rows == 3


def test_without_pyarrow_it_says_what_to_install(monkeypatch, tmp_path):
    import sys

    FRAME.to_parquet(tmp_path / "1.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(ValueError, match=r"pip install 'pellucid\[files\]'"):
        dataset(tmp_path, target="y")


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_the_header_of_a_csv_tells_its_separator(separator, packed, tmp_path):
    path = tmp_path / f"t.csv{packed}"
    FRAME.to_csv(path, index=False, sep=separator)
    data = dataset(path, target="y").counted()
    assert {*data.columns, "y"} == set(FRAME.columns)
    assert data.rows == len(FRAME)


def test_files_of_two_separators_are_told(tmp_path):
    FRAME.to_csv(tmp_path / "1.csv", index=False)
    FRAME.to_csv(tmp_path / "2.csv", index=False, sep=";")
    with pytest.raises(ValueError, match=r"2\.csv: its header is separated by ';', that of .*1\.csv by ','"):
        dataset(tmp_path / "*.csv", target="y")


def test_what_arrow_does_not_unpack_is_told_by_its_ending(tmp_path):
    (tmp_path / "table.csv.xz").write_bytes(lzma.compress(b"a,y\n1,2\n"))
    assert not is_read_in_parts(tmp_path / "table.csv.xz")
    assert is_read_in_parts("table.csv.gz")
    with pytest.raises(FilesError, match="the ending says no format that is read"):
        dataset(str(tmp_path / "table.csv.xz"))
