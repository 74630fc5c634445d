"""How many threads: what the process may use, by affinity, control groups and what others have shared out."""

import math
import os

import pytest

from pellucid.processors import default_threads, quota, usable

GROUPS = {
    "version 2, inside a container": ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
    "version 2, no limit": ("0::/\n", {"cpu.max": "max 100000\n"}, math.inf),
    "version 2, a limit above": (
        "0::/user.slice/job\n",
        {"user.slice/job/cpu.max": "max 100000", "user.slice/cpu.max": "200000 100000"},
        2.0,
    ),
    "version 2, the least counts": ("0::/a/b\n", {"a/b/cpu.max": "400000 100000", "a/cpu.max": "100000 100000"}, 1.0),
    "version 1": (
        "4:memory:/x\n3:cpu,cpuacct:/box\n0::/\n",
        {"cpu,cpuacct/box/cpu.cfs_quota_us": "50000", "cpu,cpuacct/box/cpu.cfs_period_us": "100000"},
        0.5,
    ),
    "version 1, folder by the short name": (
        "3:cpu:/\n",
        {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"},
        3.0,
    ),
    "version 1, no limit": ("3:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, math.inf),
    "no file": ("0::/\n", {}, math.inf),
    "nonsense": ("what\n:::\n0::/\n", {"cpu.max": "hello\n"}, math.inf),
    "an empty file": ("0::/\n", {"cpu.max": ""}, math.inf),
}


@pytest.mark.parametrize("case", GROUPS)
def test_the_quota_of_control_groups(case, tmp_path):
    groups, files, expected = GROUPS[case]
    (tmp_path / "cgroup").write_text(groups)
    for name, text in files.items():
        file = tmp_path / "fs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert quota(tmp_path / "cgroup", tmp_path / "fs") == expected


def test_no_control_groups_at_all(tmp_path):
    assert quota(tmp_path / "none", tmp_path / "nowhere") == math.inf


@pytest.mark.parametrize(("share", "expected"), [(0.3, 1), (1.0, 1), (1.5, 2), (2.0, 2), (64.0, 4), (math.inf, 4)])
def test_threads_follow_the_quota_and_the_affinity(monkeypatch, share, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr("pellucid.processors.quota", lambda: share)
    assert usable() == expected


@pytest.mark.parametrize(("shared", "expected"), [("1", 1), ("2,1", 2), ("16", 4), ("", 4), ("0", 4), ("many", 4)])
def test_threads_follow_what_was_shared_out(monkeypatch, shared, expected):
    monkeypatch.setattr("pellucid.processors.usable", lambda: 4)
    monkeypatch.delenv("PELLUCID_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", shared)
    assert default_threads() == expected
    monkeypatch.setenv("PELLUCID_THREADS", "3")
    assert default_threads() == 3
