"""Derivatives: graphs made from graphs."""

from pellucid.autodiff.check import check_grads as check_grads
from pellucid.autodiff.gradient_report import GradientReport as GradientReport
from pellucid.autodiff.gradient_report import gradient_report as gradient_report
from pellucid.autodiff.jacobians import hessian as hessian
from pellucid.autodiff.jacobians import hvp as hvp
from pellucid.autodiff.jacobians import jacobian as jacobian
from pellucid.autodiff.modes import grad as grad
from pellucid.autodiff.modes import jvp as jvp
from pellucid.autodiff.modes import value_and_grad as value_and_grad
from pellucid.autodiff.modes import vjp as vjp
from pellucid.autodiff.numerical import numerical_grad as numerical_grad
