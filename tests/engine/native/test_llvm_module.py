"""Kernels written as LLVM IR: verified, compiled, kept, loaded."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from pellucid.engine.native.code.llvm.module import Kernel, assembly, machine_code
from pellucid.engine.native.code.llvm.processor import AARCH64, SETTINGS, executable, host, processor
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime import cache


def plus(amount: int) -> Any:
    return lambda name, target: f"define i64 @{name}(i64 %x) {{ %y = add i64 %x, {amount} ret i64 %y }}"


def called(kernel: Kernel, x: int) -> int:
    (address,) = cache.addresses([kernel])
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(x))


def test_a_kernel_is_compiled_once_and_then_found_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    kernel = Kernel("plus three, for a test", plus(3))
    cache._addresses.pop((kernel.name, processor()), None)
    before = cache.compilations
    assert called(kernel, 4) == 7
    assert cache.compilations == before + 1
    cache._addresses.pop((kernel.name, processor()))
    assert called(Kernel("plus three, for a test", plus(9)), 4) == 7  # by its key: nothing is written again
    assert cache.compilations == before + 1
    (text,) = tmp_path.rglob("*.ll")
    assert "add i64" in text.read_text()
    cache._addresses.pop((kernel.name, processor()))


@pytest.mark.parametrize("name", executable())
def test_each_setting_compiles_and_runs(name, monkeypatch):
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    assert processor() == SETTINGS[name]
    assert called(Kernel("plus five, for a test", plus(5)), 1) == 6


def test_other_machines_are_written_for_too():
    assert "x0" in assembly(plus(1)("f", AARCH64), AARCH64)


def test_constants_may_be_far_from_the_code():
    """Of a process with much memory, the loader finds places for both that are more than 2 GB apart."""
    text = """
    @numbers = private constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
    declare double @log(double)
    define double @f(i64 %i) {
      %place = getelementptr [4 x double], ptr @numbers, i64 0, i64 %i
      %number = load double, ptr %place
      %sum = fadd double %number, 0.1
      %y = call double @log(double %sum)
      ret double %y
    }"""
    for target in (host(), *(SETTINGS[name] for name in executable())):
        words = assembly(text, target)
        assert "(%rip)" not in words  # addresses that count from the code, in 32 bits
        assert "@PLT" not in words


def test_settings_that_do_not_exist_are_refused(monkeypatch):
    monkeypatch.setenv("PELLUCID_PROCESSOR", "avx1024")
    with pytest.raises(ValueError, match="generic"):
        processor()


def test_what_llvm_finds_wrong_is_an_error():
    with pytest.raises(RuntimeError):
        machine_code("define i64 @f() { ret i32 0 }", host())

    with pytest.raises(CannotCompile):
        cache.addresses([Kernel("without a result, for a test", lambda name, target: f"define i64 @{name}() {{ }}")])
