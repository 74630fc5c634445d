"""Seeing through a network: every layer watched, what is wrong said in words, a training step written out."""

from pellucid.inspect.derivation import Derivation as Derivation
from pellucid.inspect.derivation import Notation as Notation
from pellucid.inspect.derivation import step as step
from pellucid.inspect.diagnosis.codes import CODES as CODES
from pellucid.inspect.diagnosis.diagnose import diagnose as diagnose
from pellucid.inspect.diagnosis.finding import Diagnosis as Diagnosis
from pellucid.inspect.diagnosis.finding import Finding as Finding
from pellucid.inspect.diagnosis.preflight import preflight as preflight
from pellucid.inspect.look import LayerLook as LayerLook
from pellucid.inspect.look import Look as Look
from pellucid.inspect.look import Looks as Looks
from pellucid.inspect.moment import run as run
from pellucid.inspect.statistics import Statistics as Statistics
from pellucid.inspect.subject import Subject as Subject
from pellucid.inspect.subject import subject as subject
from pellucid.inspect.watch import Watch as Watch
from pellucid.inspect.watch import looks as looks
