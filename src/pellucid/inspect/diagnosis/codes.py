"""The codes of findings: what each means, and the lectures' idea behind it. Programs may rely on these words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a fault is a fault of."""

    DATA = "the data"
    NETWORK = "the network"
    TRAINING = "the training"
    GENERALISATION = "what holds beyond the training rows"


@dataclass(frozen=True)
class Code:
    """A kind of finding.

    `means` says in two sentences what it is and why it matters; `idea` is the lectures' point;
    `rank` orders findings of equal severity: what is nearer to the cause is first.
    """

    code: str
    kind: Kind
    means: str
    idea: str
    rank: int


DATA, NETWORK, TRAINING, BEYOND = Kind.DATA, Kind.NETWORK, Kind.TRAINING, Kind.GENERALISATION

_TABLE = (
    Code(
        "input-nan",
        DATA,
        "Some inputs are missing or infinite. A single NaN makes every sum that it enters NaN, so the loss and "
        "all gradients of its batch are lost.",
        "NaN spreads through the forward pass; find the first value that is not finite",
        0,
    ),
    Code(
        "target-domain",
        DATA,
        "Some targets are not of the kind that the loss is made for. The loss then compares the network with "
        "something that it can never say.",
        "the target decides output and loss",
        1,
    ),
    Code(
        "loss-output-mismatch",
        NETWORK,
        "The last layer and the loss do not go together. Losses here take plain scores: an activation before them"
        " squeezes the scores, so that the right answer is out of reach or the gradient vanishes.",
        "a linear output for regression, softmax or sigmoid (inside the loss) for classes",
        2,
    ),
    Code(
        "input-scale",
        DATA,
        "Columns have very different sizes, or all are far from 1. Large columns rule the first layer and its "
        "gradient, so no learning rate suits all weights: the loss surface is a long narrow valley.",
        "standardise inputs, then initialisation and rate fit",
        3,
    ),
    Code(
        "target-scale",
        DATA,
        "The target is far from the size of what the network puts out at first. Either the first errors are so "
        "large that steps explode, or so small that hardly anything is learned, and the output bias has a long "
        "way to go.",
        "the size of the error is the size of the gradient",
        4,
    ),
    Code(
        "leak-suspected",
        DATA,
        "What the network is asked for may be known to it already: a column says the target, or rows to check by "
        "are rows that were trained on. Such a model looks perfect here and fails where the answer is not part of"
        " the question.",
        "training error and test error only tell bias from variance if the test rows are new",
        5,
    ),
    Code(
        "symmetric-units",
        NETWORK,
        "Units of a layer are copies of each other. They get the same gradient at every step and stay copies: the"
        " layer is as good as one unit.",
        "constant initialisation never breaks the symmetry; start with random weights",
        6,
    ),
    Code(
        "missing-activation",
        NETWORK,
        "Two layers with weights follow each other with nothing nonlinear between them. W2 (W1 x + b1) + b2 is "
        "one linear map, so the second layer adds parameters, but nothing that one layer could not compute.",
        "without a nonlinearity a deep network is a linear map",
        7,
    ),
    Code(
        "exploding-gradient",
        NETWORK,
        "Signals or gradients grow from layer to layer. The product of many factors above 1 becomes so large that"
        " the first steps overshoot, overflow or end in NaN.",
        "weights of variance 1/fan-in (He: 2/fan-in) keep the size of a signal",
        8,
    ),
    Code(
        "vanishing-gradient",
        NETWORK,
        "Signals or gradients shrink from layer to layer. The product of many factors below 1 is nearly 0, so the"
        " layers near the input hardly change.",
        "sigmoid' is at most 1/4; ReLU, careful initialisation and batch normalisation help",
        9,
    ),
    Code(
        "saturated-units",
        NETWORK,
        "Units sit on the flat ends of their activation (|f'| < 0.01). There the gradient is multiplied by almost"
        " 0: they say the same for all rows, and learn slowly or not at all.",
        "saturated sigmoid and tanh kill the gradient; ReLU, small initial weights, BN help",
        10,
    ),
    Code(
        "dead-units",
        NETWORK,
        "Units put out 0 for every row. Their slope is 0 as well, so no gradient reaches their weights, and they "
        "never come back by themselves.",
        "dead ReLU: a large negative bias or a step that was too large; leaky ReLU, biases slightly positive",
        11,
    ),
    Code(
        "not-zero-centred",
        DATA,
        "What goes into a layer has a mean that is large beside its spread. The gradients of all weights of a "
        "unit then have the same sign, and descent zig-zags.",
        "non-zero-centred outputs mean zig-zag paths",
        3,
    ),
    Code(
        "rate-too-high",
        TRAINING,
        "Steps are longer than the valley is wide. The loss jumps from wall to wall, stays high or diverges, "
        "though a smaller rate goes down from here.",
        "the step size: too large diverges, too small crawls",
        13,
    ),
    Code(
        "batch-too-small",
        TRAINING,
        "The gradient of so few rows is mostly noise. At this rate the parameters tremble around the minimum, "
        "while larger batches go down.",
        "mini-batches: the noise of the gradient falls with the root of their size",
        14,
    ),
    Code(
        "batch-too-large",
        TRAINING,
        "Batches are so large that an epoch makes only a few steps. Smaller batches see the same rows and go much"
        " further.",
        "mini-batches: many steps with a noisy gradient beat few with an exact one",
        15,
    ),
    Code(
        "dropout-too-high",
        BEYOND,
        "So many units are dropped that the network cannot learn what is in the rows. Without dropout it goes on "
        "to a better loss, on rows that it is not trained on, too.",
        "too much regularisation is high bias",
        16,
    ),
    Code(
        "penalty-too-strong",
        BEYOND,
        "The penalty holds the weights so small that the loss stays high. Without it the loss falls, on rows that"
        " it is not trained on, too.",
        "too much regularisation is high bias",
        17,
    ),
    Code(
        "rate-too-low",
        TRAINING,
        "Steps are so small that training hardly moves. A larger rate gets much further from here in the same "
        "number of steps.",
        "the step size: too large diverges, too small crawls",
        18,
    ),
    Code(
        "too-few-epochs",
        TRAINING,
        "Training ended while the loss was still falling. More epochs at the same rate go on improving it.",
        "a high training error is bias; train longer first",
        19,
    ),
    Code(
        "capacity-too-small",
        BEYOND,
        "The network is too small for what is in the rows. Its error is high on the rows that it was trained on, "
        "while a wider one finds more.",
        "high training error is high bias: a larger network",
        20,
    ),
    Code(
        "plateau",
        TRAINING,
        "The loss has stopped falling far above what these rows allow. The parameters are in a flat region or "
        "tremble around a minimum: another start, or a rate that falls, gets on.",
        "plateaus and saddle points: momentum, adaptive rules, schedules",
        21,
    ),
    Code(
        "stale-statistics",
        NETWORK,
        "The stored means and variances of batch normalisation are not those of the data. Training looks good, "
        "but the network predicts with other statistics than it was trained with.",
        "batch normalisation: population statistics at prediction",
        22,
    ),
    Code(
        "overfitting",
        BEYOND,
        "The network has learned its training rows by heart. It is much better on them than on new rows, where a "
        "simpler or an earlier model is better.",
        "low training error, high test error is high variance",
        23,
    ),
    Code(
        "class-imbalance",
        DATA,
        "One class is so rare that it hardly counts in the mean loss. The network does well by leaving it out, "
        "and finds few of its rows.",
        "the mean loss weighs classes by their rows; weights of classes change that",
        24,
    ),
    Code(
        "wrong-metric",
        DATA,
        "The metric does not measure what matters here. Somebody who always says the same would score as well, or"
        " nearly so.",
        "the accuracy of the majority is no achievement",
        25,
    ),
    Code(
        "label-noise",
        DATA,
        "Rows whose neighbours clearly say one class carry another label. A network that is trained for long "
        "learns such mistakes by heart.",
        "noise that is learned is variance",
        26,
    ),
    Code(
        "useless-layer",
        NETWORK,
        "A layer does not change what the network can say. Without it the network computes the same with fewer "
        "parameters.",
        "collapse: layers that act linearly on the data are one",
        27,
    ),
    Code(
        "input-duplicate",
        DATA,
        "The same is in the input twice. What is said twice counts twice: the weights share the work, and their "
        "common rate is doubled.",
        "redundant features",
        28,
    ),
    Code(
        "input-constant",
        DATA,
        "A column is the same for every row. It cannot tell rows apart; if it is not 0 it is a second bias, with "
        "a rate of its own.",
        "features without variance carry no information",
        29,
    ),
)

CODES: dict[str, Code] = {code.code: code for code in _TABLE}
"""All codes, causes before symptoms."""
