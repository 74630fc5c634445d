"""What the measurements must show: ratios of medians on 2 cores."""

from __future__ import annotations

FASTER: dict[str, dict[str, float]] = {
    "tiny": {"PyTorch": 80, "JAX": 4, "scikit-learn": 50},
    "small": {"PyTorch": 10, "JAX": 3.2, "scikit-learn": 10},
    "mid": {"PyTorch": 2.1, "JAX": 1.65, "scikit-learn": 3.2},
    "mnist": {"PyTorch": 1.6, "JAX": 1.3, "scikit-learn": 2.9},
    "big": {"PyTorch": 1.2, "JAX": 1.1, "scikit-learn": 2},
    "mid_regularised": {"PyTorch": 3.5, "JAX": 2.2},
    "predict small, 1 row": {"ONNX Runtime": 1},
    "predict mid, 1 row": {"ONNX Runtime": 1},
    "50 models, 20 epochs each": {"scikit-learn": 20},
    "fit iris, 150 x 4": {"scikit-learn": 1},
    "fit diabetes, 442 x 10": {"scikit-learn": 1},
    "fit digits, 1,797 x 64": {"scikit-learn": 1},
    "fit synthetic, 20,000 x 50": {"scikit-learn": 3},
}
"""How many times faster than a peer, at least."""

OVER_LIMIT: dict[str, float] = {
    "tiny": 1.8,
    "small": 1.5,
    "mid": 1.15,
    "mnist": 1.15,
    "big": 1.15,
    "mid_regularised": 1.4,
}
"""Our whole step over its limit, at most: its products' arithmetic at what the processors can do at best."""

SECONDS: dict[str, float] = {"first fit, warm cache": 0.3, "import": 0.5}
"""Our own time, at most."""


AT_MOST: dict[str, dict[str, float]] = {
    "watching mid": {"with Watch(every=100)": 1.03},
    "diagnosing MLPClassifier, 20,000 x 50": {"its diagnosis": 0.1},
    "diagnosing MLPRegressor, 5,000 x 20": {"its diagnosis": 0.1},
    "diagnosing TabularMLPClassifier, 5,000 x 50": {"its diagnosis": 0.1},
}
"""What seeing through may cost, over the training itself."""


def aim(case: str, who: str) -> str:
    """A target in words, or nothing."""
    if who == "limit":
        return f"≤ {OVER_LIMIT[case]:g}" if case in OVER_LIMIT else ""
    if who == "pellucid":
        return f"≤ {SECONDS[case]:g} s" if case in SECONDS else ""
    if who in AT_MOST.get(case, {}):
        return f"≤ {AT_MOST[case][who]:g}"
    return f"≥ {FASTER[case][who]:g}" if who in FASTER.get(case, {}) else ""


def met(case: str, who: str, value: float) -> bool | None:
    """Is it reached? `value` is a peer's time over ours; ours over the limit; or, for us, seconds."""
    if who == "limit":
        return value <= OVER_LIMIT[case] if case in OVER_LIMIT else None
    if who == "pellucid":
        return value <= SECONDS[case] if case in SECONDS else None
    if who in AT_MOST.get(case, {}):
        return value <= AT_MOST[case][who]
    return value >= FASTER[case][who] if who in FASTER.get(case, {}) else None


def word(reached: bool | None) -> str:
    return {None: "", True: "met", False: "not met"}[reached]
