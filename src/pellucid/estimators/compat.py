"""What scikit-learn's networks do otherwise than they say, or than one would expect; each by its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Compat:
    """Behaviours of scikit-learn's that `compat="sklearn"` asks for, all of them."""

    penalty_per_batch: bool = False
    """alpha is divided by the rows of each batch, although the documentation says the sample."""

    limited_loss: bool = False
    """The log-loss that is shown never exceeds that of a probability of the smallest float."""

    mean_of_outputs: bool = False
    """With several outputs the mean of the squared errors is shown, with the gradient of the sum."""

    late_patience: bool = False
    """Training stops one epoch later than `n_iter_no_change` says."""

    forgets: bool = False
    """A warm start draws another split and order, and the optimizer begins anew."""

    scipy_tolerance: bool = False
    """L-BFGS ends by SciPy's own share of the loss, whatever `tol` is."""

    strata_of_two: bool = False
    """The random split keeps the shares of classes only where there are two."""


COMPAT = {None: Compat(), "sklearn": Compat(*[True] * 7)}
"""By the parameter `compat`."""
