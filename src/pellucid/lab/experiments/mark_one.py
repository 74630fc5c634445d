"""The Mark I perceptron reads letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.letters import ALPHABET, SIDE, letter_photographs
from pellucid.lab.perceptrons import Row, novikoff, one_against_rest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "mark-one",
    "The Mark I perceptron reads letters of 20 × 20 photocells",
    lectures=("cs231n", "kth"),
    topic="models",
    claim="The Mark I Perceptron (Rosenblatt, 1957), the first machine with this algorithm, looked through a camera of "
    "20 × 20 = 400 photocells and recognised letters of the alphabet.",
    setting="All 26 letters as pictures of 400 cells, shifted a little and with some wrong cells. For each letter one "
    "perceptron learns to tell it from all others: f(x) = 1 if <w, x> + b > 0, else 0. On a mistake it adds the "
    "picture to its weights, or takes it away.",
    criterion="Every perceptron ends without a mistake on all pictures, and none made more mistakes on the way than "
    "(R/γ)² (Novikoff, 1962): R is the length of the longest picture as a vector, γ the largest distance that a plane "
    "between the letter and all others can keep from every picture (the bias counts as the weight of an input 1).",
    notice=(
        "A perceptron's weights are a sum of pictures, so they can be looked at: where they are positive, light speaks "
        "for the letter.",
        "The bound holds for every order of the pictures; in this order less than half as many mistakes are made.",
        "Letters that others look like, such as B, E and O, have a small margin and take more mistakes; J, L and Y "
        "have wide ones.",
    ),
    further=(
        'lab.run("mark-one", flipped=0.08)',
        'lab.run("mark-one", copies=2)',
        'lab.run("perceptron-rules")',
        'lab.run("xor")',
    ),
    knobs={
        "copies": "pictures of each letter",
        "flipped": "share of wrong cells in all but the first picture of a letter",
        "seed": "of shifts and wrong cells",
        "epochs": "at most",
    },
    full={"copies": 20},
)
def mark_one(copies: int = 6, flipped: float = 0.02, seed: int = 0, epochs: int = 300) -> Outcome:
    pixels, numbers = letter_photographs(copies, flipped, seed)
    row = one_against_rest(pixels, numbers, epochs)
    bounds = [novikoff(pixels, np.where(numbers == k, 1, -1)) for k in range(len(ALPHABET))]
    limit = np.array([bound.mistakes for bound in bounds])
    right = np.sign(row.scores(pixels)) == np.where(numbers[:, None] == np.arange(len(ALPHABET)), 1, -1)
    accuracy = float(np.mean(row.scores(pixels).argmax(axis=1) == numbers))
    alone = nn.Perceptron().fit(pixels, (numbers == 0).astype(int), len(row.mistakes))
    same = bool(np.array_equal(alone.weight, row.weights[0]))
    hardest = int(np.argmax(row.total))
    return Outcome(
        bool(right.all() and not row.mistakes[-1].any() and (row.total <= limit).all() and same),
        f"All {len(ALPHABET)} × {len(pixels):,} = {right.size:,} answers are right ({accuracy:.0%} of the pictures "
        f"read) after {len(row.mistakes)} epochs; the hardest letter, {ALPHABET[hardest]}, took {row.total[hardest]} "
        f"mistakes, its bound is {limit[hardest]:,.0f}.",
        {
            "accuracy": accuracy,
            "mistakes": dict(zip(ALPHABET, row.total.tolist(), strict=True)),
            "bounds": dict(zip(ALPHABET, limit.tolist(), strict=True)),
            "epochs": len(row.mistakes),
            "weights": row.weights,
        },
        (
            Beside("cells of a picture", 400, pixels.shape[1]),
            Beside("share of pictures that are read right", None, accuracy),
        ),
        (
            Table(
                "The five hardest letters and the easiest",
                ("letter", "mistakes", "R", "γ", "bound (R/γ)²"),
                [
                    [ALPHABET[k], int(row.total[k]), bounds[k].radius, bounds[k].margin, limit[k]]
                    for k in [*np.argsort(-row.total, kind="stable")[:5], int(np.argmin(row.total))]
                ],
            ),
        ),
        (
            Picture(
                "letters",
                "Above: pictures of six letters as they are learned. Below: the weights of their perceptrons; blue "
                "cells speak for the letter, orange cells against it.",
                lambda: _draw_letters(pixels, row, copies),
            ),
            Picture(
                "mistakes",
                "For each letter the mistakes that its perceptron made (dots) and how many it could have made at most "
                "(upper ends of the bars): the bound always holds.",
                lambda: _draw_mistakes(row, limit),
            ),
        ),
    )


def _draw_letters(pixels: Any, row: Row, copies: int, shown: str = "AEKOQX") -> Figure:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("for and against", [figures.ORANGE, "white", figures.BLUE])
    axes = figures.grid(2 * len(shown), (1.25, 1.35), columns=len(shown), who="mark-one")
    for i, letter in enumerate(shown):
        k = ALPHABET.index(letter)
        picture, weights = pixels[k * copies + min(1, copies - 1)], row.weights[k]
        axes[i].imshow(picture.reshape(SIDE, SIDE), cmap="Greys")
        axes[i].set_title(letter)
        size = np.abs(weights).max()
        axes[i + len(shown)].imshow(weights.reshape(SIDE, SIDE), cmap=colours, vmin=-size, vmax=size)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    axes[0].set_ylabel("picture")
    axes[len(shown)].set_ylabel("weights")
    return figures.figure_of(axes)


def _draw_mistakes(row: Row, limit: Any) -> Figure:
    ax = figures.axes(size=(7.6, 3.2))
    places = np.arange(len(ALPHABET))
    ax.vlines(places, row.total, limit, color=figures.GRID, linewidth=5)
    ax.plot(places, limit, "_", color=figures.ORANGE, markersize=11, markeredgewidth=2.5, label="bound (R/γ)²")
    ax.plot(places, row.total, "o", color=figures.BLUE, label="mistakes made")
    ax.set(yscale="log", xlabel="letter", ylabel="mistakes", title="Mistakes of 26 perceptrons and their bounds")
    ax.set_xticks(places, list(ALPHABET))
    figures.legend(ax, 2)
    return figures.figure_of(ax)
