"""One contestant in a process of its own, asleep on its pipe while others run: `python -m benchmarks.worker MODULE N`.

One thread pool at a time: workers of OpenMP, OpenBLAS and XLA that still spin in the same process, or run in another,
would cost the next contestant up to a factor of four.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases import CASES, TrainCase, data


def prepare(module: ModuleType, job: str, spec: dict[str, Any], threads: int) -> Any:
    """The work of a job (contestants/__init__.py says what each is)."""
    if not hasattr(module, job):
        raise NotImplementedError(f"{module.__name__} has no {job!r}")
    if job == "train":
        case = CASES[spec["case"]]
        return module.train(case, *data(case), threads)
    if job == "predict":
        return module.predict(CASES[spec["case"]], spec["rows"], threads)
    if job == "many":
        return module.many(threads)
    if job == "fit":
        return module.fit(spec["set"], threads)
    files = np.load(spec["file"])
    case = TrainCase("target", **(spec["case"] | {"hidden": tuple(spec["case"]["hidden"])}))
    sets = ((files["X"], files["y"]), (files["Xv"], files["yv"]))
    return module.target(case, *sets, spec["loss"], spec["epochs"], threads)


def main() -> None:
    name, threads = sys.argv[1], int(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not get into the answers
    work: Any = None
    module: ModuleType | None = None
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            if "job" in message:
                module = module or import_module(name)
                work = prepare(module, message["job"], message["spec"], threads)
            else:
                start = time.perf_counter()
                value = work(message["run"])
                answer["seconds"] = time.perf_counter() - start
                answer["value"] = value if isinstance(value, int | float) else None
        except Exception as error:
            traceback.print_exc()
            absent = isinstance(error, NotImplementedError)  # a job it does not have is no failure to explain
            answer["error"] = str(error) if absent else f"{type(error).__name__}: {error}"
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
