"""Activation functions: one table of records. Values are plain NumPy; derivatives come from the graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from scipy import special

from pellucid.graph.primitives.control import custom_rule
from pellucid.lookup import enter, look_up
from pellucid.nn.activations import functions as fn
from pellucid.nn.activations.functions import SELU_ALPHA as SELU_ALPHA
from pellucid.nn.activations.functions import SELU_SCALE as SELU_SCALE
from pellucid.nn.activations.functions import gain_of as gain_of


@dataclass(frozen=True)
class Interval:
    """The values a function takes.

    Parameters
    ----------
    low : float
        the lower end
    high : float
        the upper end
    ends : str
        ( ) not attained, [ ] attained, { } only these two

    Examples
    --------
    >>> print(Interval(0, inf, "[)"))
    [0, ∞)
    """

    low: float = -inf
    high: float = inf
    ends: str = "()"

    def __str__(self) -> str:
        low, high = (f"{end:.5g}".replace("inf", "∞") for end in (self.low, self.high))
        return f"{self.ends[0]}{low}, {high}{self.ends[1]}"


@dataclass(frozen=True)
class Activation:
    """An activation function and what is known of it.

    Parameters
    ----------
    name : str
        to choose it by
    function : Callable
        of an array, elementwise, in plain NumPy; numbers by name
    formula : str
        as text
    derivative : str
        as text
    range : Interval | None
        the values that it takes
    continuity : float
        the order k of C^k (-1: jumps, inf: smooth), which ends at `kinks`
    kinks : tuple[float, ...]
        where its derivative, or that of order `continuity` + 1, jumps
    parameters : Mapping[str, float]
        its fixed numbers
    learned : Mapping[str, float]
        starting values of those that are learned
    gain : float
        squared, over the fan-in, it is the variance of weights that keeps a signal's size through a layer; NaN is
        `gain_of(function)`
    reference : str
        who brought it up
    facts : Callable[..., Mapping[str, Any]] | None
        takes all the numbers and gives the fields that depend on them
    """

    name: str
    function: Callable[..., Any] = field(repr=False)
    formula: str = ""
    derivative: str = ""
    range: Interval | None = None
    continuity: float = 0
    kinks: tuple[float, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    learned: Mapping[str, float] = field(default_factory=dict)
    gain: float = math.nan
    reference: str = ""
    facts: Callable[..., Mapping[str, Any]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        facts = self.facts(**self.parameters, **self.learned) if self.facts else {}
        for key, value in facts.items():
            object.__setattr__(self, key, value)
        if math.isnan(self.gain):
            object.__setattr__(self, "gain", _gain(self))

    def __hash__(self) -> int:
        return hash(self.name)

    def __call__(self, x: Any, **learned: Any) -> Any:
        """The value. Learned numbers that are not given are at their start.

        Parameters
        ----------
        x : array
            any shape
        **learned
            learned numbers; those that are not given are at their start

        Returns
        -------
        array
            the shape of x
        """
        return self.function(x, **{**self.parameters, **self.learned, **learned})

    def with_(self, **numbers: float) -> Activation:
        """The same activation with other numbers, fixed ones or starting values.

        Parameters
        ----------
        **numbers
            fixed ones, or starting values

        Returns
        -------
        Activation
            a new one

        Examples
        --------
        >>> elu = activation("elu").with_(alpha=2.0)
        >>> print(elu.range, elu.continuity)
        (-2, ∞) 0
        """
        self._check(numbers)
        fixed = {key: numbers.get(key, value) for key, value in self.parameters.items()}
        learned = {key: numbers.get(key, value) for key, value in self.learned.items()}
        return replace(self, parameters=fixed, learned=learned, gain=math.nan if numbers else self.gain)

    def learning(self, *names: str) -> Activation:
        """The same activation with just these of its numbers learned, the others fixed.

        Parameters
        ----------
        *names
            of its numbers

        Returns
        -------
        Activation
            a new one

        Examples
        --------
        >>> activation("elu").learning("alpha").learned
        {'alpha': 1.0}
        """
        self._check(names)
        numbers = {**self.parameters, **self.learned}
        learned = {key: numbers.pop(key) for key in names}
        return replace(self, parameters=numbers, learned=learned)

    def _check(self, names: Any) -> None:
        settings = {**self.parameters, **self.learned}
        for name in names:
            if name not in settings:
                raise ValueError(f"{self.name} has no parameter {name!r}: it has {', '.join(settings) or 'none'}")

    @property
    def label(self) -> str:
        """The name, with the numbers that are not the usual ones."""
        usual = ACTIVATIONS.get(self.name)
        usual_numbers = {} if usual is None else {**usual.parameters, **usual.learned}
        changed = {k: v for k, v in {**self.parameters, **self.learned}.items() if v != usual_numbers.get(k)}
        return self.name + (f"({', '.join(f'{k}={v}' for k, v in changed.items())})" if changed else "")


def _gain(record: Activation) -> float:
    """The computed gain; 1 for a function that cannot be asked (it wants a certain width) or has no finite size."""
    try:
        gain = gain_of(record)
    except Exception:  # whatever a user's function raises on a column: the gain is a help, not a condition
        return 1.0
    return gain if 0.0 < gain < inf else 1.0


ACTIVATIONS: dict[str, Activation] = {}


def register_activation(record: Activation, *aliases: str) -> Activation:
    """Enter an activation into the table, so that it can be chosen by name.

    Parameters
    ----------
    record : Activation
        the activation
    *aliases
        more names for it

    Returns
    -------
    Activation
        the record

    Examples
    --------
    >>> from pellucid import nn
    >>> cube = nn.register_activation(nn.Activation("cube_example", lambda x: x**3))
    >>> nn.activation("cube_example") is cube
    True
    """
    enter("activation", record, (record.name, *aliases), ACTIVATIONS)
    return record


def relu_at(slope: float) -> Activation:
    """ReLU with another derivative at 0 (the lectures differ): any number from 0 to 1.

    Parameters
    ----------
    slope : float
        the derivative at 0

    Returns
    -------
    Activation
        to be given as `activation=`

    Examples
    --------
    >>> import pellucid as pel
    >>> float(pel.grad(relu_at(0.5))(0.0))
    0.5
    """
    if not 0 <= slope <= 1:
        raise ValueError(f"relu_at: a subgradient of ReLU at 0 lies in 0 ... 1, got {slope}")

    def rule(d: Any, y: Any, x: Any) -> Any:
        return d * (np.greater(x, 0) + slope * np.equal(x, 0)).astype(d.dtype)

    return replace(ACTIVATIONS["relu"], name=f"relu_at_{slope:g}", function=custom_rule(fn.relu, slope=rule))


def activation(which: Any) -> Activation:
    """An activation by name, as a function of one's own, or itself.

    Parameters
    ----------
    which : str | Activation | function
        a name of `ACTIVATIONS`, a function of one's own, or a record

    Returns
    -------
    Activation
        the record

    Examples
    --------
    >>> print(activation("relu").range)
    [0, ∞)
    >>> activation(np.tanh).name
    'tanh'
    """
    if isinstance(which, Activation):
        return which
    if isinstance(which, str):
        return look_up("activation", which, ACTIVATIONS)
    if callable(which):
        records = [record for record in ACTIVATIONS.values() if record.function is which and not record.learned]
        return records[0] if records else Activation(getattr(which, "__name__", "custom").strip("<>"), which)
    raise TypeError(f"an activation is a name, a function or an Activation, got {which!r}")


# what follows from the parameters

GELU_LEAST, GELU_TANH_LEAST = -0.16997120747990366, -0.17004075057125406
SILU_LEAST, MISH_LEAST, SINC_LEAST = -0.2784645427610738, -0.30884341301725043, -0.21723362821122166


def _step(threshold: float) -> dict[str, Any]:
    return {"kinks": (threshold,)}


def _leaky(alpha: float) -> dict[str, Any]:
    smooth = alpha == 1.0
    return {
        "range": Interval() if alpha > 0 else Interval(0, inf, "[)"),
        "continuity": inf if smooth else 0,
        "kinks": () if smooth else (0.0,),
        "gain": math.sqrt(2.0 / (1.0 + alpha * alpha)),
    }


def _elu(alpha: float) -> dict[str, Any]:
    return {"range": Interval(-alpha) if alpha > 0 else Interval(0, inf, "[)"), "continuity": int(alpha == 1.0)}


def _celu(alpha: float) -> dict[str, Any]:
    return {"range": Interval(-alpha)}


def _swish(beta: float) -> dict[str, Any]:
    if beta == 0.0:
        return {"range": Interval()}
    least = SILU_LEAST / beta
    return {"range": Interval(least, inf, "[)") if beta > 0 else Interval(-inf, least, "(]")}


def _soboleva(a: float, b: float, c: float, d: float) -> dict[str, Any]:
    right, right_end = _soboleva_end(a, b, c, d)
    left, left_end = _soboleva_end(b, a, d, c)  # f(-x; a, b, c, d) = -f(x; b, a, d, c)
    return {"range": Interval(-left, right, ("[" if left_end == "]" else "(") + right_end)}


def _soboleva_end(a: float, b: float, c: float, d: float) -> tuple[float, str]:
    if a >= c:
        return (1.0 if a == c else inf), ")"
    return fn.largest(lambda x: fn.soboleva(x, a, b, c, d), 0.0, 40.0 / (c - a)), "]"  # one hill, then down to 0


# the table: name, function, g, g' (at kinks the value that is used), range, order of continuity and where it ends, ...

R, UP = Interval(), Interval(0, inf, "[)")
SQRT2 = math.sqrt(2.0)


def _enter(*record: Any, also: tuple[str, ...] = (), **more: Any) -> None:
    register_activation(Activation(*record, **more), *also)


# fmt: off
_enter("identity", fn.identity, "x", "1", R, inf, gain=1.0, also=("linear",))
_enter("step", fn.step, "0 if x < threshold, else 1", "0", Interval(0, 1, "{}"), -1, parameters={"threshold": 0.0},
       facts=_step, reference="McCulloch and Pitts, 1943", also=("hard_threshold",))
_enter("straight_through_step", fn.straight_through_step, "0 if x < threshold, else 1", "1 (by decree)",
       Interval(0, 1, "{}"), -1, parameters={"threshold": 0.0}, facts=_step,
       reference="Bengio et al., 2013")
_enter("sigmoid", special.expit, "σ(x) = 1 / (1 + e⁻ˣ)", "g(x) (1 - g(x))", Interval(0, 1), inf, gain=1.0,
       reference="Rumelhart et al., 1986", also=("logistic",))
_enter("tanh", np.tanh, "(eˣ - e⁻ˣ) / (eˣ + e⁻ˣ)", "1 - g(x)²", Interval(-1, 1), inf, gain=5.0 / 3.0,
       reference="LeCun et al., 1998")
_enter("soboleva", fn.soboleva, "(eᵃˣ - e⁻ᵇˣ) / D, D = eᶜˣ + e⁻ᵈˣ", "(a eᵃˣ + b e⁻ᵇˣ) / D - g(x) (c eᶜˣ - d e⁻ᵈˣ) / D",
       R, inf, parameters={"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, facts=_soboleva,
       reference="Soboleva and Beskorovainyi, 2008", also=("smht",))
_enter("softsign", fn.softsign, "x / (1 + |x|)", "1 / (1 + |x|)²", Interval(-1, 1), 1, (0.0,),
       reference="Bergstra et al., 2009")
_enter("hard_sigmoid", fn.hard_sigmoid, "min(max(x/6 + 1/2, 0), 1)", "1/6 if |x| < 3, else 0", Interval(0, 1, "[]"), 0,
       (-3.0, 3.0), reference="Howard et al., 2019")
_enter("hard_tanh", fn.hard_tanh, "min(max(x, -1), 1)", "1 if |x| < 1, else 0", Interval(-1, 1, "[]"), 0, (-1.0, 1.0),
       reference="Collobert, 2004")

_enter("relu", fn.relu, "max(0, x)", "0 if x ≤ 0, 1 if x > 0", UP, 0, (0.0,), gain=SQRT2,
       reference="Nair and Hinton, 2010")
_enter("leaky_relu", fn.leaky_relu, "α x if x ≤ 0, x if x > 0", "α if x ≤ 0, 1 if x > 0", R, 0,
       parameters={"alpha": 0.01}, facts=_leaky, reference="Maas et al., 2013")
_enter("prelu", fn.leaky_relu, "α x if x ≤ 0, x if x > 0", "α if x ≤ 0, 1 if x > 0", R, 0,
       learned={"alpha": 0.25}, facts=_leaky, reference="He et al., 2015")
_enter("elu", fn.elu, "α (eˣ - 1) if x ≤ 0, x if x > 0", "α eˣ if x ≤ 0, 1 if x > 0", R, 1, (0.0,),
       parameters={"alpha": 1.0}, facts=_elu, reference="Clevert et al., 2016")
_enter("selu", fn.selu, "λ α (eˣ - 1) if x ≤ 0, λ x if x > 0; λ = 1.0507, α = 1.67326", "λ α eˣ if x ≤ 0, λ if x > 0",
       Interval(-SELU_SCALE * SELU_ALPHA), 0, (0.0,), gain=1.0, reference="Klambauer et al., 2017")
_enter("celu", fn.celu, "α (e^(x/α) - 1) if x ≤ 0, x if x > 0", "e^(x/α) if x ≤ 0, 1 if x > 0", R, 1, (0.0,),
       parameters={"alpha": 1.0}, facts=_celu, reference="Barron, 2017")
_enter("relu6", fn.relu6, "min(max(x, 0), 6)", "1 if 0 < x < 6, else 0", Interval(0, 6, "[]"), 0, (0.0, 6.0),
       reference="Krizhevsky, 2010")
_enter("squared_relu", fn.squared_relu, "max(0, x)²", "2 max(0, x)", UP, 1, (0.0,), reference="So et al., 2021")

_enter("softplus", fn.softplus, "ln(1 + eˣ)", "σ(x)", Interval(0), inf, reference="Dugas et al., 2001")
_enter("log_sigmoid", special.log_expit, "ln σ(x) = -ln(1 + e⁻ˣ)", "σ(-x)", Interval(-inf, 0), inf)
_enter("gelu", fn.gelu, "x Φ(x) = x (1 + erf(x/√2)) / 2", "Φ(x) + x φ(x)", Interval(GELU_LEAST, inf, "[)"), inf,
       reference="Hendrycks and Gimpel, 2016")
_enter("gelu_tanh", fn.gelu_tanh, "x (1 + tanh u) / 2, u = √(2/π) (x + 0.044715 x³)",
       "(1 + tanh u) / 2 + x (1 - tanh² u) u'(x) / 2", Interval(GELU_TANH_LEAST, inf, "[)"), inf,
       reference="Hendrycks and Gimpel, 2016")
_enter("silu", fn.silu, "x σ(x) = x / (1 + e⁻ˣ)", "(1 + e⁻ˣ + x e⁻ˣ) / (1 + e⁻ˣ)²", Interval(SILU_LEAST, inf, "[)"),
       inf, reference="Elfwing et al., 2018", also=("swish_1",))
_enter("swish", fn.swish, "x σ(β x)", "σ(β x) + β x σ(β x) (1 - σ(β x))", R, inf, learned={"beta": 1.0}, facts=_swish,
       reference="Ramachandran et al., 2018")
_enter("mish", fn.mish, "x tanh(ln(1 + eˣ))", "tanh s + x σ(x) (1 - tanh² s), s = ln(1 + eˣ)",
       Interval(MISH_LEAST, inf, "[)"), inf, reference="Misra, 2020")
_enter("hardswish", fn.hard_swish, "x min(max(x/6 + 1/2, 0), 1)", "0 if x ≤ -3, 1 if x ≥ 3, else (2x + 3) / 6",
       Interval(-0.375, inf, "[)"), 0, (-3.0, 3.0), reference="Howard et al., 2019", also=("hard_swish",))
_enter("sinc", fn.sinc, "sin(x) / x, 1 at 0", "(cos(x) - g(x)) / x, 0 at 0", Interval(SINC_LEAST, 1, "[]"), inf)

_enter("softmax", fn.softmax, "e^xᵢ / Σⱼ e^xⱼ", "∂gᵢ/∂xⱼ = gᵢ (δᵢⱼ - gⱼ)", Interval(0, 1), inf, gain=1.0,
       reference="Bridle, 1990")
_enter("log_softmax", fn.log_softmax, "xᵢ - ln Σⱼ e^xⱼ", "∂gᵢ/∂xⱼ = δᵢⱼ - e^gⱼ", Interval(-inf, 0), inf, gain=1.0)
# fmt: on
