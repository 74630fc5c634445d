"""The charts of a report, drawn by matplotlib: functions that take and return axes.

Each takes what the page draws (a record of `report(...).numbers`), or a fitted model with the rows to ask it about.
"""

from pellucid.report.plots.influence import importance as importance
from pellucid.report.plots.influence import partial_dependence as partial_dependence
from pellucid.report.plots.influence import regions as regions
from pellucid.report.plots.layers import dead_units as dead_units
from pellucid.report.plots.layers import gradient_sizes as gradient_sizes
from pellucid.report.plots.layers import histograms as histograms
from pellucid.report.plots.layers import ranks as ranks
from pellucid.report.plots.layers import saturation as saturation
from pellucid.report.plots.layers import spreads as spreads
from pellucid.report.plots.layers import units as units
from pellucid.report.plots.layers import update_sizes as update_sizes
from pellucid.report.plots.quality import confusion as confusion
from pellucid.report.plots.quality import precision_recall as precision_recall
from pellucid.report.plots.quality import predictions as predictions
from pellucid.report.plots.quality import reliability as reliability
from pellucid.report.plots.quality import residuals as residuals
from pellucid.report.plots.quality import roc as roc
from pellucid.report.plots.training import gradient_norms as gradient_norms
from pellucid.report.plots.training import learning_curves as learning_curves
from pellucid.report.plots.training import rates as rates
