"""The update, written out: the rule's formula, read off its recorded graph, and the new numbers of every parameter."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pellucid.graph import Graph, Spec, record
from pellucid.graph.core.spec import Array
from pellucid.inspect.derivation.content import Equation, Phase
from pellucid.inspect.derivation.formulas import LETTERS
from pellucid.inspect.derivation.numbers import Numbers, number
from pellucid.inspect.derivation.page import Page, equation
from pellucid.inspect.derivation.parts import Part, owned
from pellucid.inspect.derivation.spellings import LONGEST, formulas_and_uses
from pellucid.inspect.derivation.through import gradient_symbol
from pellucid.named_arrays import Arrays
from pellucid.optim import Optimizer, Schedule
from pellucid.optim.groups import factors
from pellucid.optim.links import Link
from pellucid.optim.rules.rule import Rule

LEARNING_RATE = r"\eta "


def write_update(page: Page) -> None:
    """From gradients to new parameters, state and statistics."""
    trace = page.trace
    optimizer: Optimizer = trace.trainer.optimizer
    _announce(page, optimizer)
    seen = gradients_seen(page)
    for part in trace.parts:
        for own, name in page.owned.get(part.name, {}).items():
            equations = _parameter(page, optimizer, name, page.symbol_of(part, own), seen)
            page.add(Phase.UPDATE, name, equations, part)
    for part in trace.parts:
        _statistics(page, part)
    before, after = (number(value, page.digits) for value in (trace.objective, trace.next_objective))
    page.add(Phase.UPDATE, "After the step, on the same rows", [equation("J", rf"{before} \to {after}")])


def _announce(page: Page, optimizer: Optimizer) -> None:
    rule, rate = rule_now(page), page.trace.numbers["lr"]
    formulas = rule_formulas(rule, "w", "g")
    words = [_first_line(rule)] if formulas is None else []
    equations = (
        [] if formulas is None else [equation(symbol, text, relation=r"\leftarrow") for symbol, text in formulas]
    )
    equations.append(equation(LEARNING_RATE, number(rate, page.digits)))
    words += [f"{type(link).__name__}: {_first_line(link)}" for link in optimizer.links]
    if any(ahead(link) for link in optimizer.links):
        squares = [float(np.sum(np.square(g.astype(float)))) for g in page.trace.gradients.values()]
        words.append(f"The norm of all gradients together is {np.sqrt(sum(squares)):.{page.digits}g}.")
    page.add(
        Phase.UPDATE,
        f"The rule, {type(rule).__name__}, for every parameter w with its gradient g",
        equations,
        words=words,
    )


def _first_line(thing: Any) -> str:
    return " ".join((type(thing).__doc__ or repr(thing)).split("\n\n")[0].split())


def _parameter(page: Page, optimizer: Optimizer, name: str, symbol: str, seen: Arrays | None) -> list[Equation]:
    """The new state and the new value of one parameter."""
    trace, show = page.trace, page.notation.parameter
    old, new = trace.before.params[name], trace.after.params[name]
    gradient = gradient_symbol(symbol)
    equations: list[Equation] = []
    if seen is not None and any(ahead(link) for link in optimizer.links):
        limited = gradient
        for link in filter(ahead, optimizer.links):
            limited = rf"\operatorname{{{type(link).__name__}}}({limited})"
        gradient = r"\bar{G}"
        equations.append(equation(gradient, limited, show(seen[name])))
    formulas = rule_formulas(rule_now(page), symbol, gradient) if optimizer.every == 1 else None
    rate = trace.numbers["lr"] * factors(name, optimizer.groups).lr
    if rate != trace.numbers["lr"]:
        equations.append(equation(LEARNING_RATE, number(rate, page.digits)))
    states = {
        state_symbol(entry): value
        for path, value in trace.after.rule.items()
        for owner, _, entry in (path.rpartition("."),)
        if owner == f"rule.{name}"
    }
    unknown: list[tuple[str, str]] = [(state, "") for state in (*states, symbol)]
    elsewhere = any(behind(link) for link in optimizer.links)  # then the rule's formula is not all
    for left, text in unknown if formulas is None else formulas:
        sides: list[Any] = [text] if text and not (left == symbol and elsewhere) else []
        if seen is not None and sides == [rf"{symbol} - {LEARNING_RATE} \cdot {gradient}"]:
            sides.append((show(old), rf"- {number(rate, page.digits)} \cdot", show(seen[name])))
        value = show(new) if left == symbol else _shown(page, states[left])
        equations.append(equation(left, *sides, value, relation=r"\leftarrow"))
    return equations


def _shown(page: Page, value: Any) -> Numbers:
    return page.notation.parameter(value) if np.ndim(value) else Numbers(np.reshape(value, (1, 1)))


def _statistics(page: Page, part: Part) -> None:
    """Batch statistics that are kept for prediction."""
    before, after = page.trace.before.state, page.trace.after.state
    names = owned(page.trace.parts, after).get(part.name, {})
    equations = [
        equation(rf"\text{{{own}}}", _shown(page, after[name]), relation=r"\leftarrow")
        for own, name in names.items()
        if not np.array_equal(after[name], before[name])
    ]
    if equations:
        page.add(Phase.UPDATE, f"{part.name}: stored statistics", equations, part, ["For prediction; no gradient."])


# the rule, as it is at this step


def rule_now(page: Page) -> Rule:
    """The rule with the numbers of this step in the place of schedules."""
    rule = page.trace.trainer.optimizer.rule
    scheduled = [f.name for f in fields(rule) if f.name != "lr" and isinstance(getattr(rule, f.name), Schedule)]
    return replace(rule, **{name: page.trace.numbers[f"rule.{name}"] for name in scheduled})


def rule_formulas(rule: Rule, weight: str, gradient: str) -> list[tuple[str, str]] | None:
    r"""What a rule does to its state and to a parameter, one after the other: read off its recorded graph.

    Numbers are filled in. None where the formulas are too long to read, or where matrices go by others (Muon).

    >>> from pellucid.optim import Momentum
    >>> for symbol, formula in rule_formulas(Momentum(0.1, beta=0.9), "w", "g"):
    ...     print(symbol, "<-", formula)
    v <- 0.9 \cdot v + g
    w <- w - \eta  \cdot v
    """
    entries = list(rule.init(np.zeros(())))
    if entries != list(rule.init(np.zeros((1, 1)))):
        return None

    def step(w: Any, g: Any, s: Any, lr: Any, t: Any) -> Any:
        new, state = rule.step(w, g, s, lr, t)
        return [*(state[entry] for entry in entries), new]

    one = Spec(())
    graph = record(step, one, one, dict.fromkeys(entries, one), one, Spec((), np.int64)).simplify()
    states = {f"s[{entry!r}]": state_symbol(entry) for entry in entries}
    symbols = {"w": weight, "g": gradient, "lr": LEARNING_RATE, "t": "t", **states}
    results = [*states.values(), weight]
    written = formulas_and_uses(graph, symbols, results[:-1])
    if any(len(text.replace(gradient, "g").replace(weight, "w")) > LONGEST for text, _ in written):
        return None
    order = _in_order(graph, [uses for _, uses in written], len(results))
    return None if order is None else [(results[i], written[i][0]) for i in order]


def _in_order(graph: Graph, uses: list[frozenset[int]], count: int) -> list[int] | None:
    """Assignments one after the other: behind those whose new values they use, ahead of those whose old ones they use.

    None where no order will do.
    """
    old = {2 + i: i for i in range(count - 1)}  # inputs are w, g, the state, lr, t
    new = {out: i for i, out in enumerate(graph.outputs[:-1]) if isinstance(out, int)}
    ahead_of: dict[int, set[int]] = {i: set() for i in range(count)}
    for i in range(count):
        ahead_of[i] |= {new[node] for node in uses[i] if node in new and new[node] != i}
        for j in {old[node] for node in uses[i] if node in old} - {i}:
            ahead_of[j].add(i)
    order: list[int] = []
    while len(order) < count:
        ready = [i for i in range(count) if i not in order and ahead_of[i] <= set(order)]
        if not ready:
            return None
        order.append(ready[0])
    return order


def state_symbol(entry: str) -> str:
    r"""
    >>> state_symbol("m"), state_symbol("c1"), state_symbol("alpha"), state_symbol("top")
    ('m', 'c_{1}', '\\alpha ', '\\text{top}')
    """
    numbered = re.fullmatch(r"([a-z])(\d)", entry)
    if numbered:
        return f"{numbered[1]}_{{{numbered[2]}}}"
    if entry in LETTERS and entry != "top":
        return f"\\{entry} "
    return entry if len(entry) == 1 else rf"\text{{{entry}}}"


# links around it


def ahead(link: Link) -> bool:
    """Does it change gradients?"""
    return type(link).before is not Link.before


def behind(link: Link) -> bool:
    """Does it change parameters after the rule? (Averages for prediction do not.)"""
    return type(link).after is not Link.after and type(link).for_prediction is Link.for_prediction


@dataclass(frozen=True)
class Seen(Rule):
    """A rule that shows what a rule is given: its new parameters are the gradients."""

    def init(self, w: Array) -> Arrays:
        return {}

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        return g, {}


def gradients_seen(page: Page) -> Arrays | None:
    """The gradients as the rule gets them, behind the links ahead of it; None where they are gathered over calls."""
    trace, optimizer = page.trace, page.trace.trainer.optimizer
    if optimizer.every > 1:
        return None
    before = Optimizer(Seen(), tuple(link for link in optimizer.links if ahead(link)))
    params = trace.before.params
    return before.update(params, trace.gradients, before.init(params), trace.step + 1, trace.numbers)[0]
