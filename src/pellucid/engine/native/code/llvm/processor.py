"""The processor that code is written for: its name for LLVM, and what shapes loops and tiles.

`PELLUCID_PROCESSOR` chooses a plainer one than this machine's, to see what others would run.
"""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass, replace

IS_X86 = platform.machine().lower() in ("x86_64", "amd64")
IS_KNOWN = IS_X86 or platform.machine().lower() in ("aarch64", "arm64")
"""Is this a kind of processor that tiles have been chosen for?"""


@dataclass(frozen=True)
class Processor:
    """What LLVM is told, and what the code's writers look at.

    Parameters
    ----------
    name, features, triple : str
        as LLVM knows them; an empty triple is this machine's
    vector : int
        bytes of a vector register
    registers : int
        how many of them there are
    fused : bool
        is there a multiplication and addition in one step, rounded once?
    masked : bool
        can a part of a vector be read and written in one step?
    halves : bool
        does it work on half a vector in half the time?
    bfloat16 : bool
        does it multiply pairs of bfloat16 numbers and add them to a float32 sum in one step?
    """

    name: str
    features: str
    triple: str
    vector: int
    registers: int
    fused: bool
    masked: bool
    halves: bool = False
    bfloat16: bool = False

    def lanes(self, item: int) -> int:
        """Numbers of so many bytes in a vector register."""
        return self.vector // item

    @property
    def is_x86(self) -> bool:
        return self.triple.startswith("x86_64") if self.triple else IS_X86


SETTINGS = {
    "generic": Processor("x86-64" if IS_X86 else "generic", "", "", 16, 16 if IS_X86 else 32, not IS_X86, False),
    "avx2": Processor("x86-64-v3", "", "", 32, 16, True, True),
    "avx512": Processor("x86-64-v4", "", "", 64, 32, True, True),
}
"""What `PELLUCID_PROCESSOR` may be."""

AARCH64 = Processor("generic", "", "aarch64-unknown-linux-gnu", 16, 32, True, False)
"""64-bit ARM with what all of them have. Its code is compiled and verified in the tests; it has not been run."""

_NEEDS = {
    "avx2": ("avx2", "fma", "bmi2", "f16c", "lzcnt", "movbe"),
    "avx512": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "fma"),
}


def processor() -> Processor:
    """The one that code is written for: this machine's, or what `PELLUCID_PROCESSOR` says."""
    setting = os.environ.get("PELLUCID_PROCESSOR", "")
    if not setting:
        return host()
    if setting not in executable():
        raise ValueError(f"PELLUCID_PROCESSOR is one of {', '.join(executable())} on this machine, got {setting!r}")
    return SETTINGS[setting]


def executable() -> list[str]:
    """The settings whose code this machine can run."""
    features = _features()
    return [name for name in SETTINGS if IS_X86 or name == "generic" if _has(features, name)]


@functools.cache
def host() -> Processor:
    """This machine's."""
    import llvmlite.binding as llvm

    features = _features()
    kind = "generic"
    if IS_X86:
        kind = next((name for name in ("avx512", "avx2") if _has(features, name)), "generic")
    like = SETTINGS[kind]
    flags = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items()))
    name = llvm.get_host_cpu_name()
    short = kind == "avx512" and features.get("avx512bf16", False)
    return replace(like, name=name, features=flags, halves=name == "znver4", bfloat16=short)


@functools.cache
def _features() -> dict[str, bool]:
    import llvmlite.binding as llvm

    try:
        return dict(llvm.get_host_cpu_features())
    except RuntimeError:  # LLVM cannot tell on this platform
        return {}


def _has(features: dict[str, bool], name: str) -> bool:
    return all(features.get(need, False) for need in _NEEDS.get(name, ()))
