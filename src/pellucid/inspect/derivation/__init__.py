"""A training step, written out: as text, as HTML, as LaTeX."""

from pellucid.inspect.derivation.derivation import Derivation as Derivation
from pellucid.inspect.derivation.derivation import step as step
from pellucid.inspect.derivation.notation import NOTATIONS as NOTATIONS
from pellucid.inspect.derivation.notation import Notation as Notation
