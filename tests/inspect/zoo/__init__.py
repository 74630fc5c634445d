"""The zoo: broken and healthy configurations on which `inspect.diagnose` is judged."""

from __future__ import annotations

from dataclasses import replace

from tests.inspect.zoo import (
    broken_inputs,
    broken_labels,
    broken_layers,
    broken_leaks,
    broken_signals,
    broken_sizes,
    broken_steps,
    broken_targets,
    healthy_estimators,
    healthy_models,
)
from tests.inspect.zoo.records import CODES as CODES
from tests.inspect.zoo.records import SEVERITIES as SEVERITIES
from tests.inspect.zoo.records import Broken as Broken
from tests.inspect.zoo.records import Healthy as Healthy
from tests.inspect.zoo.records import Quantity as Quantity
from tests.inspect.zoo.records import once
from tests.inspect.zoo.training import Trained as Trained

ROOMS = (
    broken_inputs,
    broken_leaks,
    broken_targets,
    broken_labels,
    broken_signals,
    broken_layers,
    broken_steps,
    broken_sizes,
)
BROKEN: tuple[Broken, ...] = tuple(
    replace(case, make=once(case.make), twin=once(case.twin)) for room in ROOMS for case in room.CASES
)
HEALTHY: tuple[Healthy, ...] = tuple(
    replace(case, make=once(case.make)) for room in (healthy_models, healthy_estimators) for case in room.CASES
)
