"""The errors Pellucid raises on purpose. Each names what was expected, what came, and what to do."""

import numpy as np


class PellucidError(Exception):
    """The base of all errors below."""


class UnsupportedError(PellucidError, RuntimeError):
    """A NumPy function, option or operation that cannot be recorded.

    Not a TypeError: NumPy swallows those on the way and puts a riddle in their place.
    """


class NoSuchAttributeError(UnsupportedError, AttributeError):
    """An attribute that plain arrays have and traced ones do not (an AttributeError, so that hasattr works)."""


class StaleTracerError(PellucidError, RuntimeError):
    """A traced array was used after the recording it belongs to had ended."""


class AbstractValueError(PellucidError, RuntimeError):
    """A value was asked of an array that is recorded by shape and dtype alone."""


class ShapeError(PellucidError, ValueError):
    """Shapes (or tree structures) that do not fit together."""


class IndexRangeError(ShapeError, IndexError):
    """An index array that points outside the array it indexes."""


class MatrixError(PellucidError, np.linalg.LinAlgError):
    """A matrix that an operation cannot take: singular, or not positive definite."""


class DifferentiationError(PellucidError, TypeError):
    """A derivative that does not exist as asked: a missing rule, a non-scalar output, integer inputs."""


class GradientCheckError(PellucidError, AssertionError):
    """A derivative rule disagrees with the function it belongs to."""


class GraphError(PellucidError, ValueError):
    """A graph that is not well formed (a cycle, a dangling reference)."""


class ExportError(PellucidError, ValueError):
    """A model, or a part of one, that a format cannot hold."""


class KernelFolderWarning(UserWarning):
    """The folder of compiled kernels is not used, because others could have put code there."""


class DataWarning(RuntimeWarning):
    """The data can be learned from, but hardly as intended."""


class ColumnWarning(UserWarning):
    """Columns of a table are taken for something else than they came as, or left out."""


class IndependentOutputWarning(UserWarning):
    """A function was differentiated with respect to an argument that it does not use."""


class CheckpointError(PellucidError, ValueError):
    """A file of arrays that cannot be written, or cannot be trusted when read."""


class TableFileError(PellucidError, ValueError):
    """A file that holds no table, or none that can be learned from."""
