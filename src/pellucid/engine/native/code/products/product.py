"""Matrix products as compiled code: one function for a dtype, told by a table of words what to multiply and how."""

from __future__ import annotations

import functools

import numpy as np

from pellucid.engine.native.code.llvm.code import INT32, INT64, Code, Lanes, Text
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.llvm.processor import Processor
from pellucid.engine.native.code.products.narrow_product import DEEP, write_apart, write_narrow
from pellucid.engine.native.code.products.packing import write_copy, write_turn
from pellucid.engine.native.code.products.product_words import (
    COPY_LEFT,
    COPY_RIGHT,
    FINISH_LATER,
    GROUP,
    NARROW,
    PRODUCT_WORDS,
    TURN_RESULT,
    TURN_RIGHT,
    most_narrow,
)
from pellucid.engine.native.code.products.tile import BEGIN, END, TILE, Panel, panels_for, write_panel
from pellucid.engine.native.code.words import Reader


@functools.cache
def kernel(dtype: str) -> Kernel:
    """The function int32 product(int64 table) for float32 or float64."""
    return Kernel(f"product {dtype}", functools.partial(write, dtype), settled=True)


def write(dtype: str, name: str, target: Processor) -> str:
    """The IR of it."""
    text, panels = Text(), panels_for(target, dtype)
    for number, panel in enumerate(panels):
        write_panel(text, f"{name}.panel.{number}", target, dtype, panel)
    write_copy(text, f"{name}.copy", target, dtype)
    write_turn(text, f"{name}.turn", target, dtype, exactly=False)
    write_turn(text, f"{name}.turn_exactly", target, dtype, exactly=True)
    for columns in range(1, most_narrow(panels[0].lanes[0]) + 1):
        write_narrow(text, f"{name}.narrow.{columns}", target, dtype, columns)
        if columns > 1:
            write_apart(text, f"{name}.apart.{columns}", target, dtype, columns)
    code = Code(text, name, target)
    Driver(code, dtype, panels, PRODUCT_WORDS.read(code)).write()
    code.finish(0)
    return str(text)


class Driver:
    """The loops around the panels."""

    def __init__(self, code: Code, dtype: str, panels: list[Panel], words: Reader) -> None:
        self.code, self.panels, self.words = code, panels, words
        self.item, self.width = np.dtype(dtype).itemsize, panels[0].width

    def write(self) -> None:
        code, w = self.code, self.words
        zero, follows = code.constant(0), w.finish != 0
        nothing, rows = [zero] * 6, self.panels[0].rows
        with code.when(follows):
            self.finish(BEGIN, *nothing)
        with code.when((w.ways & NARROW) != 0):
            self.narrow()
        with code.when((w.ways & NARROW) == 0):
            self.wide()
        with code.when(follows):
            with code.when((w.ways & FINISH_LATER) != 0), code.loop(0, w.result_rows, rows) as i:
                across, place = w.result_columns, w.result + i * w.result_columns * self.item
                self.finish(TILE, w.first_row + i, zero, self.least(rows, w.result_rows - i), across, place, across)
            self.finish(END, *nothing)

    def wide(self) -> None:
        code, w = self.code, self.words
        done = code.variable(INT64, 0)
        more = code.variable(INT64, 1)  # a depth of 0 makes zeros
        with code.repeat(lambda: more.get() != 0):
            at = done.get()
            length = self.least(w.block, w.depth - at)
            self.block(at, length)
            done.set(at + w.block)
            more.set((done.get() < w.depth).astype(INT64))
        with code.when((w.ways & TURN_RESULT) != 0):
            self.call("turn_exactly", w.c, w.c_row, w.turned, w.turned_row, w.rows, w.columns)

    def narrow(self) -> None:
        """Few columns. Those of the right side are taken apart unless each is in one piece."""
        code, w = self.code, self.words
        for columns in range(1, most_narrow(self.panels[0].lanes[0]) + 1):
            with code.when(w.columns == columns):
                place, step = code.variable(INT64, w.b), code.variable(INT64, w.b_row)
                if columns > 1:
                    with code.when((w.ways & TURN_RIGHT) != 0):
                        self.call(f"apart.{columns}", w.b, w.right, w.block, w.depth)
                        place.set(w.right)
                        step.set(w.block)
                with code.loop(0, self.most(w.depth, 1), DEEP) as at:  # a depth of 0 makes zeros
                    sides = w.a + at * self.item, w.a_row, place.get() + at * self.item, step.get()
                    length, go_on = self.least(DEEP, w.depth - at), (at != 0).astype(INT64)
                    self.call(f"narrow.{columns}", *sides, w.c, w.rows, length, go_on)

    def block(self, at: Lanes, length: Lanes) -> None:
        """A part of the depth: all panels of it."""
        code, w = self.code, self.words
        a = w.a + at * w.a_step * self.item
        with code.when((w.ways & COPY_LEFT) != 0), code.loop(0, w.rows, GROUP) as i:
            count = self.least(GROUP, w.rows - i)
            self.call("copy", a + i * self.item, w.a_step, self.group(i), code.constant(GROUP), length, count)
        left, depth = self.rows_of_left(a, length), self.deep(length)
        tiles = (at + w.block >= w.depth) & ((w.ways & FINISH_LATER) == 0)
        finish, asked = (tiles.select(w.finish, 0), w.finish_table), (code.address_of(w.rest), w.asked_count)
        column = code.variable(INT64, 0)
        with code.repeat(lambda: column.get() < w.columns):
            j = column.get()
            width = self.wide_as(w.columns - j)
            right, across = self.right_side(at, length, j, width), j * self.item
            what = depth, width, (at != 0).astype(INT64), *finish
            with code.when((w.ways & COPY_LEFT) == 0):
                sides = *left, *right, w.c + across, w.c_row
                self.panel(width, *sides, w.rows, *what, w.first_row, j, *asked, across)
            with code.when((w.ways & COPY_LEFT) != 0), code.loop(0, w.rows, GROUP) as i:
                place, count = across + i * w.c_row * self.item, self.least(GROUP, w.rows - i)
                sides = self.group(i), code.constant(1), code.constant(GROUP), *right, w.c + place, w.c_row
                self.panel(width, *sides, count, *what, w.first_row + i, j, *asked, place)
            column.set(j + width)

    def rows_of_left(self, a: Lanes, length: Lanes) -> tuple[Lanes, Lanes, Lanes]:
        """Where the left side lies that is not copied in groups, and its steps.   length: of this part of the depth"""
        return a, self.words.a_row, self.words.a_step

    def deep(self, length: Lanes) -> Lanes:
        """How many numbers a tile reads one after the other for so many of the depth."""
        return length

    def wide_as(self, rest: Lanes) -> Lanes:
        """The width of the next panel, of the columns that are left."""
        widest, *others = self.panels
        vector, width = widest.lanes[0], rest
        if self.code.processor.halves:  # one vector and a half are less work than two
            width = ((rest > vector) & (rest <= vector + vector // 2)).select(vector, width)
        width = (rest > max(panel.width for panel in others)).select(widest.width // 2, width)
        return (rest >= widest.width).select(widest.width, width)

    def right_side(self, at: Lanes, length: Lanes, j: Lanes, width: Lanes) -> tuple[Lanes, Lanes]:
        """Where a panel of the right side lies, and its step from row to row."""
        code, w = self.code, self.words
        across = code.constant(self.width)
        place, step = code.variable(INT64, w.b + (at * w.b_row + j) * self.item), code.variable(INT64, w.b_row)
        turns = (w.ways & TURN_RIGHT) != 0
        copies = (w.ways & COPY_RIGHT) != 0
        if not code.processor.masked:  # whole vectors are read
            copies = (copies | ((width & (self.panels[-1].width - 1)) != 0)) & ~turns
        with code.when(copies):
            self.call("copy", place.get(), w.b_row, w.right, across, length, width)
        with code.when(turns):
            self.call("turn", w.b + (j * w.b_row + at) * self.item, w.b_row, w.right, across, width, length)
        with code.when(copies | turns):
            place.set(w.right)
            step.set(across)
        return place.get(), step.get()

    def panel(self, width: Lanes, *arguments: Lanes) -> None:
        """The panel that is as wide as it must be."""
        for number, panel in enumerate(self.panels):
            below = self.panels[number + 1].width if number + 1 < len(self.panels) else 0
            with self.code.when((width > below) & (width <= panel.width)):
                self.call(f"panel.{number}", *arguments)

    def group(self, i: Lanes) -> Lanes:
        """Where the copied rows of the left side from row i on lie."""
        place: Lanes = self.words.left + i * self.deep(self.words.block) * self.item
        return place

    def finish(self, stage: int, *part: Lanes) -> None:
        w, code = self.words, self.code
        code.by_address(w.finish, INT32, w.finish_table, code.constant(stage), *part)

    def call(self, what: str, *arguments: Lanes) -> None:
        self.code.by_name(f"{self.code.name}.{what}", INT32, *arguments)

    def least(self, a: Lanes | int, b: Lanes) -> Lanes:
        return (b < a).select(b, a)

    def most(self, a: Lanes, b: Lanes | int) -> Lanes:
        return (a < b).select(b, a)
