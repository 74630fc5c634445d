"""A model as one C99 file without dependencies: declarations, constants, and a function that predicts one row."""

from __future__ import annotations

import re

from pellucid.export.answers import LABEL
from pellucid.export.c_body import Body
from pellucid.export.c_operations import HELPERS
from pellucid.export.c_text import array, c_type, comment, identifiers, text
from pellucid.export.c_values import View, loops, place, steps_of
from pellucid.export.columns import Column, Kind
from pellucid.export.program import Program

HEAD = """/*
 * {estimator}, exported by Pellucid {version}: the preprocessing, the network and the answer for one row.
 *
 *     {name}_row row = {{ {example} }};
 *     float out[{NAME}_OUTPUTS];
 *     {call}
 *
 * C99, no dependencies but the mathematics of the standard library (-lm), no allocation. It is reentrant: buffers are
 * on the stack, {stack} bytes; constants take {constants} bytes.
 *
 * To use it from other files: #define {NAME}_HEADER ahead of #include "{file}" there, and compile this file once.
 */
#ifndef {NAME}_DECLARED
#define {NAME}_DECLARED

{defines}

/* One row of the table. */
typedef struct {{
{fields}
}} {name}_row;

{declarations}

#endif

#ifndef {NAME}_HEADER

#include <math.h>
#include <stddef.h>
#include <string.h>
"""

OWN_MACROS = ("COLUMNS", "OUTPUTS", "CLASSES", "DECLARED", "HEADER")
"""What the file defines, behind its name."""

CODE = """
/* The place of a text among sorted ones, from 1; 0 where it is none of them, or NULL. */
static int {name}_code(const char *text, const char *const *categories, int count) {{
    int low = 0, high = count - 1;
    while (text != NULL && low <= high) {{
        int middle = (low + high) / 2, order = strcmp(text, categories[middle]);
        if (order == 0) return middle + 1;
        if (order < 0) high = middle - 1;
        else low = middle + 1;
    }}
    return 0;
}}
"""


def source(program: Program, version: str, name: str, file: str) -> str:
    """The text of the file; `name` begins the names in it, `file` is what it is called."""
    own = [f"{name.upper()}_{word}" for word in OWN_MACROS]
    fields = identifiers((column.name for column in program.columns), own)
    inputs = [
        _input(program, i, column, field) for i, (column, field) in enumerate(zip(program.columns, fields, strict=True))
    ]
    body = Body(program.graph, inputs, name)
    results = dict(zip(program.outputs, body.write(), strict=True))
    label = results.get(LABEL)
    chosen = label if label is not None and len(label.shape) == 1 else None
    numbers = next((view for key, view in results.items() if key != LABEL), None if chosen is not None else label)
    if numbers is not None:
        steps = steps_of(numbers.shape)
        copied = lambda at: [f"out[{place(steps, at)}] = (float){numbers.at(place(steps, at))};"]
        body.memory.blocks.append(loops(numbers.shape, copied))
    body.memory.blocks.append([f"return {'0' if chosen is None else chosen.at()};"])
    declared, lines, stack = body.memory.settled()
    constants = body.constants.arrays
    parts = [
        HEAD.format(
            estimator=program.estimator,
            version=version,
            name=name,
            NAME=name.upper(),
            file=file,
            example=_example(program.columns, fields),
            call=_call(name, chosen is not None),
            stack=stack,
            constants=sum(one.size * {"double": 8}.get(c_type(one.dtype), 4) for one in constants.values()),
            defines=_defines(program, name, numbers),
            fields="\n".join(
                _field(program, i, column, field)
                for i, (column, field) in enumerate(zip(program.columns, fields, strict=True))
            ),
            declarations=_declarations(program, name, chosen is not None),
        )
    ]
    if program.classes is not None:
        parts.append(_texts(f"{name}_classes", [str(one) for one in program.classes], static=False))
    numbered = enumerate(zip(program.columns, fields, strict=True))
    categories = [(i, column, field) for i, (column, field) in numbered if column.kind is Kind.CATEGORY]
    parts += [_texts(f"{name}_categories_{field}", list(column.categories)) for _, column, field in categories]
    for (key, value), scope in zip(constants.items(), body.constants.scopes.values(), strict=True):
        parts += [f"/* {comment(scope or 'together')}: {' x '.join(map(str, value.shape))} */", array(key, value)]
    if categories:
        parts.append(CODE.format(name=name))
    for helper, type_ in sorted(body.helpers):
        parts.append(HELPERS[helper].format(T=type_, f="f" * (type_ == "float"), p=f"{name}_"))
    codes = [
        f"const int code{i} = {name}_code(row->{field}, {name}_categories_{field}, {len(column.categories)});"
        for i, column, field in categories
    ]
    text_ = " ".join([*codes, *lines])
    idle = [f"(void){word};" for word in ("row", "out") if not re.search(rf"\b{word}\b", text_)]
    inside = [*codes, *declared, *idle, *lines]
    parts.append(
        f"int {name}_predict(const {name}_row *row, float *out) {{\n"
        + "\n".join(f"    {one}" for one in inside)
        + "\n}"
    )
    return "\n".join([*parts, "", "#endif", ""])


def _input(program: Program, i: int, column: Column, field: str) -> View:
    """Where a column is found."""
    type_, shape = c_type(program.graph.nodes[i].dtype), (1, column.width)
    if column.kind is Kind.CATEGORY:
        return View(f"code{i}", shape, type_, single=True)  # without _: no name of the file is such
    return View(f"row->{field}", shape, type_, single=column.width == 1)


def _field(program: Program, i: int, column: Column, field: str) -> str:
    """A line of the struct."""
    words = {
        Kind.NUMBER: "NAN where missing" if column.missing else "",
        Kind.BOOLEAN: "1, 0, NAN where missing",
        Kind.CATEGORY: f"one of {len(column.categories)} texts, UTF-8; NULL where missing",
    }
    type_ = "const char *" if column.kind is Kind.CATEGORY else f"{c_type(program.graph.nodes[i].dtype)} "
    size = f"[{column.width}]" if column.width > 1 else ""
    renamed = repr(column.name) if column.name != field else ""
    notes = ": ".join(note for note in (renamed, words[column.kind]) if note)
    notes = "; ".join(note for note in (notes, column.note) if note)
    return f"    {type_}{field}{size};" + (f" /* {comment(notes)} */" if notes else "")


def _defines(program: Program, name: str, numbers: View | None) -> str:
    sizes = {"COLUMNS": len(program.columns), "OUTPUTS": 0 if numbers is None else numbers.size}
    if program.classes is not None:
        sizes["CLASSES"] = len(program.classes)
    return "\n".join(f"#define {name.upper()}_{key} {size}" for key, size in sizes.items())


def _declarations(program: Program, name: str, chosen: bool) -> str:
    lines = []
    if program.classes is not None:
        lines.append(f"extern const char *const {name}_classes[{name.upper()}_CLASSES];")
    what = "probabilities of the classes" if program.classes is not None else "predicted numbers"
    gives = f"the number of the class, from 0 ({name}_classes has its name)" if chosen else "0"
    lines.append(f"/* Puts {name.upper()}_OUTPUTS {what} into `out`; gives {gives}. */")
    return "\n".join([*lines, f"int {name}_predict(const {name}_row *row, float *out);"])


def _call(name: str, chosen: bool) -> str:
    if chosen:
        return f'printf("%s\\n", {name}_classes[{name}_predict(&row, out)]);'
    return f"{name}_predict(&row, out);"


def _example(columns: tuple[Column, ...], fields: list[str]) -> str:
    shown = []
    for column, field in list(zip(columns, fields, strict=True))[:3]:
        value = text(column.categories[0]) if column.kind is Kind.CATEGORY else "{0.5f}" if column.width > 1 else "0.5f"
        shown.append(f".{field} = {comment(value)}")
    return ", ".join([*shown, *["..."] * (len(columns) > 3)])


def _texts(name: str, values: list[str], *, static: bool = True) -> str:
    listed = "".join(f"    {text(value)},\n" for value in values)
    return f"{'static ' if static else ''}const char *const {name}[{len(values)}] = {{\n{listed}}};"
