"""PyTorch, eager, with its fused update rules."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.cases import TrainCase, data, initial
from benchmarks.contestants import Work


def network(case: TrainCase, seed: int = 0) -> nn.Sequential:
    parts: list[nn.Module] = []
    for i, (weight, bias) in enumerate(initial(case, seed)):
        dense = nn.Linear(*weight.shape, dtype=getattr(torch, case.dtype))
        with torch.no_grad():
            dense.weight.copy_(torch.from_numpy(weight.T))
            dense.bias.copy_(torch.from_numpy(bias))
        parts.append(dense)
        if i < len(case.hidden):
            parts += [nn.BatchNorm1d(case.hidden[i])] * case.batch_norm
            parts.append(nn.ReLU() if case.activation == "relu" else nn.GELU())
            parts += [nn.Dropout(case.dropout)] * bool(case.dropout)
    return nn.Sequential(*parts)


def rule(case: TrainCase, net: nn.Module) -> torch.optim.Optimizer:
    if case.rule == "adam":
        return torch.optim.Adam(net.parameters(), case.lr, fused=True)
    return torch.optim.SGD(net.parameters(), case.lr, momentum=0.9, fused=True)


def epoch(case: TrainCase, net: nn.Module, optimizer: torch.optim.Optimizer, X: Any, y: Any) -> float:
    order = torch.randperm(len(X))
    losses = []
    for i in range(0, len(X), case.batch):
        rows = order[i : i + case.batch]
        optimizer.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(net(X[rows]), y[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Work:
    torch.set_num_threads(threads)
    net, tX, ty = network(case), torch.from_numpy(X), torch.from_numpy(y)
    optimizer = rule(case, net)

    def work(n: int) -> None:
        for _ in range(n):
            epoch(case, net, optimizer, tX, ty)

    return work


def predict(case: TrainCase, rows: int, threads: int) -> Work:
    torch.set_num_threads(threads)
    net, Z = network(case).eval(), data(case, rows)[0]

    def work(n: int) -> None:
        with torch.inference_mode():
            for _ in range(n):
                functional.softmax(net(torch.from_numpy(Z)), dim=1).numpy()

    return work


def target(case: TrainCase, train: Any, valid: Any, loss: float, epochs: int, threads: int) -> Work:
    torch.set_num_threads(threads)
    X, y, Xv, yv = map(torch.from_numpy, (*train, *valid))

    def work(seed: int) -> int:
        torch.manual_seed(seed)
        net = network(case, seed)
        optimizer = rule(case, net)
        for done in range(1, epochs + 1):
            epoch(case, net.train(), optimizer, X, y)
            with torch.inference_mode():
                if functional.cross_entropy(net.eval()(Xv), yv).item() <= loss:
                    return done
        return epochs

    return work
