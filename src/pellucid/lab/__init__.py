"""The lectures' experiments: each gives plain data with a printable table, and a picture from `plots`."""

from pellucid.lab.boundary import plot_boundary as plot_boundary
from pellucid.lab.costs import direction_costs as direction_costs
from pellucid.lab.costs import speelpenning as speelpenning
from pellucid.lab.costs import speelpenning_costs as speelpenning_costs
from pellucid.lab.derivatives import difference_errors as difference_errors
from pellucid.lab.derivatives import expression_swell as expression_swell
from pellucid.lab.derivatives import four_ways as four_ways
from pellucid.lab.derivatives import lecture_forms as lecture_forms
from pellucid.lab.derivatives import logistic_map as logistic_map
from pellucid.lab.plots import plot_costs as plot_costs
from pellucid.lab.plots import plot_difference_errors as plot_difference_errors
from pellucid.lab.plots import plot_swell as plot_swell
from pellucid.lab.plots import plot_xor as plot_xor
from pellucid.lab.xor import forward_pass as forward_pass
from pellucid.lab.xor import perceptron_errors as perceptron_errors
from pellucid.lab.xor import separate as separate
from pellucid.lab.xor import train_xor as train_xor
