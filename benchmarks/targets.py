"""What the measurements must show: ratios of medians on 2 cores."""

from __future__ import annotations

FASTER: dict[str, dict[str, float]] = {
    "tiny": {"PyTorch": 35, "JAX": 4, "scikit-learn": 30},
    "small": {"PyTorch": 6, "JAX": 3.5, "scikit-learn": 10},
    "mid": {"PyTorch": 1.7, "JAX": 1.6, "scikit-learn": 4},
    "mnist": {"PyTorch": 1.15, "JAX": 1.15, "scikit-learn": 3.2},
    "big": {"PyTorch": 1.02, "JAX": 1.05, "scikit-learn": 2.4},
    "mid_regularised": {"PyTorch": 2, "JAX": 1.3},
    "predict small, 1 row": {"ONNX Runtime": 1},
    "predict mid, 1 row": {"ONNX Runtime": 1},
    "50 models, 20 epochs each": {"scikit-learn": 20},
    "fit iris, 150 x 4": {"scikit-learn": 1},
    "fit diabetes, 442 x 10": {"scikit-learn": 1},
    "fit digits, 1,797 x 64": {"scikit-learn": 1},
    "fit synthetic, 20,000 x 50": {"scikit-learn": 3},
}
"""How many times faster than a peer, at least."""

OVER_PRODUCTS: dict[str, float] = {"small": 1.3, "mid": 1.25, "mnist": 1.2, "big": 1.2}
"""Our whole step over the time of its matrix products alone, at most."""

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
    if who == "products":
        return f"≤ {OVER_PRODUCTS[case]:g}" if case in OVER_PRODUCTS else ""
    if who == "pellucid":
        return f"≤ {SECONDS[case]:g} s" if case in SECONDS else ""
    if who in AT_MOST.get(case, {}):
        return f"≤ {AT_MOST[case][who]:g}"
    return f"≥ {FASTER[case][who]:g}" if who in FASTER.get(case, {}) else ""


def met(case: str, who: str, value: float) -> bool | None:
    """Is it reached? `value` is a peer's time over ours; ours over the products'; or, for us, seconds."""
    if who == "products":
        return value <= OVER_PRODUCTS[case] if case in OVER_PRODUCTS else None
    if who == "pellucid":
        return value <= SECONDS[case] if case in SECONDS else None
    if who in AT_MOST.get(case, {}):
        return value <= AT_MOST[case][who]
    return value >= FASTER[case][who] if who in FASTER.get(case, {}) else None


def word(reached: bool | None) -> str:
    return {None: "", True: "met", False: "not met"}[reached]
