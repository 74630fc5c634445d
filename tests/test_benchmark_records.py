"""Benchmark results are kept with their machine and date."""

import re
from pathlib import Path

import pytest

from benchmarks import report, store
from benchmarks.figures import Figure

RECORDS = Path(report.__file__).parent / "results"


def test_a_run_leaves_a_record(tmp_path):
    store.save(tmp_path, "imports", [Figure("import pellucid", "ours", 0.18, "s", limit=0.5)])
    path = report.write(tmp_path)
    where, text = store.setting(), path.read_text()
    assert path.name == f"{where['date'].split()[0]}-{store.machine(where)}.md"
    for part in (where["processor"], f"{where['cores']} cores", where["system"], where["python"]):
        assert part in text
    assert "numpy " in text
    assert re.search(r"^Measured \d{4}-\d\d-\d\d \d\d:\d\d\.$", text, flags=re.M)
    assert "| import pellucid | ours | 0.18 s |" in text


def test_the_machine_is_a_part_of_a_file_name():
    where = {"processor": "Intel(R) Xeon(R) CPU @ 2.20GHz", "cores": 4}
    assert store.machine(where) == "intel-r-xeon-r-cpu-2-20ghz-4-cores"


@pytest.mark.parametrize("record", sorted(RECORDS.glob("20*.md")), ids=lambda record: record.name)
def test_records_say_where_and_when(record):
    day = re.fullmatch(r"(\d{4}-\d\d-\d\d)-[a-z0-9-]+-cores", record.stem).group(1)
    text = record.read_text()
    assert text.startswith(f"# Benchmarks of {day}\n\n- Machine: ")
    assert "- System: " in text
    assert "- Packages:" in text
