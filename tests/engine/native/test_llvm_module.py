"""Kernels written as LLVM IR: verified, compiled, kept, loaded."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from pellucid.engine.native import cache
from pellucid.engine.native.llvm.module import Kernel, assembly, machine_code
from pellucid.engine.native.llvm.processor import AARCH64, SETTINGS, executable, host, processor
from pellucid.engine.native.lower import CannotCompile


def plus(amount: int) -> Any:
    return lambda name, target: f"define i64 @{name}(i64 %x) {{ %y = add i64 %x, {amount} ret i64 %y }}"


def called(kernel: Kernel, x: int) -> int:
    (address,) = cache.addresses([kernel])
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(x))


def test_a_kernel_is_compiled_once_and_then_found_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    kernel = Kernel("plus three, for a test", plus(3))
    cache._addresses.pop((kernel.key, processor()), None)
    before = cache.compilations
    assert called(kernel, 4) == 7
    assert cache.compilations == before + 1
    cache._addresses.pop((kernel.key, processor()))
    assert called(Kernel("plus three, for a test", plus(9)), 4) == 7  # by its key: nothing is written again
    assert cache.compilations == before + 1
    (text,) = tmp_path.rglob("*.ll")
    assert "add i64" in text.read_text()
    cache._addresses.pop((kernel.key, processor()))


@pytest.mark.parametrize("name", executable())
def test_each_setting_compiles_and_runs(name, monkeypatch):
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    assert processor() == SETTINGS[name]
    assert called(Kernel("plus five, for a test", plus(5)), 1) == 6


def test_other_machines_are_written_for_too():
    assert "x0" in assembly(plus(1)("f", AARCH64), AARCH64)


def test_settings_that_do_not_exist_are_refused(monkeypatch):
    monkeypatch.setenv("PELLUCID_PROCESSOR", "avx1024")
    with pytest.raises(ValueError, match="generic"):
        processor()


def test_what_llvm_finds_wrong_is_an_error():
    with pytest.raises(RuntimeError):
        machine_code("define i64 @f() { ret i32 0 }", host())

    with pytest.raises(CannotCompile):
        cache.addresses([Kernel("without a result, for a test", lambda name, target: f"define i64 @{name}() {{ }}")])
