"""The lectures' experiments: `run` one by name, and it gives numbers, figures and a verdict.

One file each in `experiments`; what several of them share is in the other files, as data out of functions.
"""

from pellucid.lab.boundary import plot_boundary as plot_boundary
from pellucid.lab.costs import direction_costs as direction_costs
from pellucid.lab.costs import speelpenning as speelpenning
from pellucid.lab.costs import speelpenning_costs as speelpenning_costs
from pellucid.lab.derivatives import difference_errors as difference_errors
from pellucid.lab.derivatives import expression_swell as expression_swell
from pellucid.lab.derivatives import four_ways as four_ways
from pellucid.lab.derivatives import lecture_forms as lecture_forms
from pellucid.lab.derivatives import logistic_map as logistic_map
from pellucid.lab.experiment import LECTURES as LECTURES
from pellucid.lab.experiment import TOPICS as TOPICS
from pellucid.lab.experiment import Experiment as Experiment
from pellucid.lab.experiment import catalogue as catalogue
from pellucid.lab.experiment import experiment as experiment
from pellucid.lab.experiment import find as find
from pellucid.lab.experiment import names as names
from pellucid.lab.outcome import Beside as Beside
from pellucid.lab.outcome import Outcome as Outcome
from pellucid.lab.outcome import Picture as Picture
from pellucid.lab.outcome import Table as Table
from pellucid.lab.plots import plot_costs as plot_costs
from pellucid.lab.plots import plot_difference_errors as plot_difference_errors
from pellucid.lab.plots import plot_swell as plot_swell
from pellucid.lab.plots import plot_xor as plot_xor
from pellucid.lab.result import Result as Result
from pellucid.lab.result import run as run
from pellucid.lab.xor import forward_pass as forward_pass
from pellucid.lab.xor import perceptron_errors as perceptron_errors
from pellucid.lab.xor import separate as separate
from pellucid.lab.xor import train_xor as train_xor
