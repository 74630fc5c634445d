"use strict";
// One function for each kind of chart: (data, width, element) -> an element. All are drawn by Observable Plot.
const colours = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)"];
const dashes = [null, "6,3", "2,3"];
const colour = (i) => colours[i % colours.length];
const dash = (i) => dashes[Math.floor(i / colours.length) % dashes.length];
function short(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return d3.format(".2~e")(value);
  return d3.format(size >= 1000 ? ",.0f" : ".3~g")(value);
}
const percent = (value) => (value === null ? "–" : value > 0 && value < 0.001 ? "<0.1 %" : `${d3.format(value > 0 && value < 0.1 ? ".1~f" : ".0f")(100 * value)} %`);
const cut = (words, limit) => (words.length <= limit ? words : `${words.slice(0, limit - 1)}…`);
const readable = { loss: "training loss", val_loss: "validation loss" };

function plot(width, height, options) {
  return Plot.plot({ width, height, marginTop: 28, marginRight: 14, marginLeft: 50, marginBottom: 34, ...options, style: { overflow: "visible" } });
}

function withLegend(names, drawn, colourOf = colour, dashOf = dash) {
  const box = document.createElement("div");
  const list = document.createElement("ul");
  list.className = "legend";
  names.forEach((name, i) => {
    const item = document.createElement("li");
    const line = document.createElement("i");
    line.style.borderTopColor = colourOf(i);
    if (dashOf(i)) line.className = "dashed";
    item.append(line, cut(String(name), 40));
    list.append(item);
  });
  box.append(list, drawn);
  return box;
}

// lines: [{name, x: [...], y: [...]}]
function lines(series, width, height, options, marks = []) {
  const shown = series.map((one) => ({ ...one, points: one.x.map((x, i) => ({ x, y: one.y[i], name: one.name })).filter((p) => p.y !== null && (options.y?.type !== "log" || p.y > 0)) }));
  const drawn = plot(width, height, {
    ...options,
    x: { tickFormat: "~s", ...options.x },
    y: { grid: true, ...(options.y?.type === "log" ? { tickFormat: short, ticks: logTicks(series) } : {}), ...options.y },
    marks: [
      ...marks,
      ...shown.map((one, i) => Plot.line(one.points, { x: "x", y: "y", stroke: colour(i), strokeWidth: 2, strokeDasharray: dash(i) })),
      ...shown.map((one, i) => (one.points.length < 3 ? Plot.dot(one.points, { x: "x", y: "y", fill: colour(i), r: 3 }) : null)),
      Plot.tip(shown.flatMap((one) => one.points), Plot.pointer({ x: "x", y: "y", title: (d) => `${readable[d.name] ?? d.name}: ${short(d.y)}\n${options.x?.label ?? "x"} ${d.x}` })),
    ],
  });
  return shown.length > 1 ? withLegend(shown.map((one) => readable[one.name] ?? one.name), drawn) : drawn;
}

// a logarithmic axis where values are positive and span more than a factor
const logWhere = (series, factor) => {
  const values = series.flatMap((one) => one.y).filter((v) => v !== null && v > 0);
  const any = series.flatMap((one) => one.y).some((v) => v !== null && v <= 0);
  return values.length && !any && d3.max(values) > factor * d3.min(values) ? "log" : "linear";
};

// ticks of a logarithmic axis: powers of ten, and 2 and 5 times them where there is room
function logTicks(series) {
  const values = series.flatMap((one) => one.y).filter((v) => v !== null && v > 0);
  const [low, high] = d3.extent(values).map(Math.log10);
  const powers = d3.range(Math.floor(low), Math.ceil(high) + 1);
  const every = Math.ceil(powers.length / 7);
  const ticks = powers.filter((p) => p % every === 0).map((p) => 10 ** p);
  const finer = high - low < 2.2 ? powers.flatMap((p) => [1, 2, 5].map((k) => k * 10 ** p)) : ticks;
  return finer.filter((t) => t >= 0.98 * 10 ** low && t <= 1.02 * 10 ** high);
}

const charts = {
  learning(data, width) {
    const marks = [];
    if (data.best !== null) {
      marks.push(Plot.ruleX([data.best], { stroke: "var(--quiet)", strokeDasharray: "4,3" }));
      const inside = data.best > 0.85 * d3.max(data.losses, (line) => d3.max(line.x)) ? "end" : "middle";
      marks.push(Plot.text([data.best], { x: (d) => d, frameAnchor: "top", textAnchor: inside, dy: -12, text: () => `best epoch ${data.best}`, fill: "var(--quiet)" }));
      marks.push(Plot.dot([[data.best, data.best_value]], { r: 4.5, fill: "var(--ink)" }));
    }
    if (data.kept !== null && data.kept !== data.best) {
      marks.push(Plot.ruleX([data.kept], { stroke: "var(--c3)", strokeDasharray: "4,3" }));
      const end = d3.max(data.losses, (line) => d3.max(line.x));
      const near = Math.abs(data.kept - data.best) < 0.25 * end;
      const inwards = data.kept > 0.7 * end;
      marks.push(Plot.text([data.kept], { x: (d) => d, frameAnchor: near ? "bottom" : "top", dy: near ? -6 : -12, dx: near ? (inwards ? -4 : 4) : 0, textAnchor: near ? (inwards ? "end" : "start") : "middle", text: () => `kept: epoch ${data.kept}`, fill: "var(--c3)" }));
    }
    const last = d3.max(data.losses, (line) => d3.max(line.x));
    if (!data.complete && last !== data.best && last !== data.kept) {
      marks.push(Plot.ruleX([last], { stroke: "var(--quiet)", strokeDasharray: "1,3" }));
      if (last - (data.best ?? 0) > 0.25 * last) marks.push(Plot.text([last], { x: (d) => d, frameAnchor: "top", dy: -13, textAnchor: "end", text: () => "stopped", fill: "var(--quiet)" }));
    }
    return lines(data.losses, width, 280, { x: { label: "epoch" }, y: { label: "loss", type: logWhere(data.losses, 30) }}, marks);
  },
  scores: (data, width) => lines(data.scores.map((line) => ({ ...line, name: line.name.replace(/^val_/, "validation ") })), width, 280, { x: { label: "epoch" }, y: { label: "score" }}),
  rate: (data, width) => lines([{ ...data.rates, name: "learning rate" }], width, 200, { x: { label: "epoch" }, y: { label: null, type: logWhere([data.rates], 30), tickFormat: short }, marginLeft: 58, marginTop: 12 }),
  norm: (data, width) => lines([{ name: "gradient norm", x: data.steps, y: data.gradient_norm }], width, 200, { x: { label: "step" }, y: { label: null, type: logWhere([{ y: data.gradient_norm }], 30), tickFormat: short }, marginLeft: 58, marginTop: 12 }),
  // what every layer shows over time; the data are those of all layers
  series(data, width, element) {
    const what = element.dataset.key;
    const series = data.layers.map((layer) => ({ name: layer.name, x: data.steps, y: layer[what] })).filter((one) => one.y.some((v) => v !== null));
    const share = ["dead", "saturated"].includes(what);
    const log = ["gradient", "update"].includes(what) ? "log" : ["spread", "rank"].includes(what) ? logWhere(series, 30) : "linear";
    const top = share ? Math.max(0.1, Math.min(1, 1.15 * (d3.max(series, (one) => d3.max(one.y)) ?? 0))) : undefined;
    const marks = what === "update" ? [Plot.ruleY([1e-3], { stroke: "var(--quiet)", strokeDasharray: "4,3" })] : [];
    const y = { label: null, type: log };
    if (share) Object.assign(y, { domain: [0, top], tickFormat: percent, ticks: 5 });
    return lines(series, width, 220, { x: { label: "step" }, y, marginLeft: 56, marginTop: 12 }, marks);
  },
  confusion(data, width) {
    const n = data.labels.length;
    const names = data.labels.map((label) => cut(label, n > 12 ? 10 : 16));
    const left = Math.min(130, 30 + 6.6 * d3.max(names, (name) => name.length));
    const size = (width - left) / n;
    const numbered = size > 26;
    const height = Math.min(Math.max(170, (width - left - 10) * (n > 8 ? 0.72 : 0.78)), 640);
    const slanted = 6.6 * d3.max(names, (name) => name.length) > (width - left) / n - 4;
    const totals = data.matrix.map((row) => d3.sum(row));
    const cells = data.matrix.flatMap((row, i) => row.map((count, j) => ({ i, j, count, share: totals[i] ? count / totals[i] : 0, right: i === j })));
    const some = (room) => d3.range(n).filter((k) => k % Math.ceil(16 / room) === 0); // names that have room
    return plot(width, height, {
      marginLeft: left, marginTop: slanted ? 70 : 44, marginBottom: 8,
      x: { domain: d3.range(n), ticks: some(size), tickFormat: (k) => names[k], axis: "top", label: "predicted", tickRotate: slanted ? -45 : 0, tickSize: 0 },
      y: { domain: d3.range(n), ticks: some((height - 60) / n), tickFormat: (k) => names[k], label: "true", tickSize: 0 },
      marks: [
        Plot.cell(cells, { x: "j", y: "i", fill: "var(--faint)", inset: n > 20 ? 0.3 : 1.2, rx: n > 20 ? 0 : 4 }),
        Plot.cell(cells, { x: "j", y: "i", fill: (d) => (d.right ? "var(--c1)" : "var(--c2)"), fillOpacity: (d) => Math.sqrt(d.share) * 0.85, inset: n > 20 ? 0.3 : 1.2, rx: n > 20 ? 0 : 4 }),
        numbered ? Plot.text(cells.filter((d) => d.count), { x: "j", y: "i", text: (d) => (size > 62 && height / n > 40 ? `${d3.format(",")(d.count)}\n${percent(d.share)}` : d3.format(size > 44 ? "," : ".2~s")(d.count)), fill: (d) => (Math.sqrt(d.share) > 0.62 ? "var(--on)" : "var(--ink)"), fontSize: size > 62 ? 13 : 11 }) : null,
        Plot.tip(cells, Plot.pointer({ x: "j", y: "i", title: (d) => `“${data.labels[d.i]}” taken for “${data.labels[d.j]}”\n${d3.format(",")(d.count)} rows, ${percent(d.share)}` })),
      ],
      color: { type: "identity" }, opacity: { type: "identity" },
    });
  },
  reliability(data, width) {
    const bins = data.predicted.map((predicted, k) => ({ predicted, observed: data.observed[k], low: data.low[k], high: data.high[k], rows: data.rows[k] }));
    const box = document.createElement("div");
    const axis = { domain: [0, 1], tickFormat: percent, ticks: 5 };
    box.append(
      plot(width, 260, {
        x: { ...axis, axis: null }, y: { ...axis, grid: true, label: "came true" }, marginBottom: 10, r: { range: [2.5, 7] },
        marks: [
          Plot.line([[0, 0], [1, 1]], { stroke: "var(--quiet)", strokeDasharray: "4,3" }),
          Plot.ruleX(bins, { x: "predicted", y1: "low", y2: "high", stroke: "var(--c1)", strokeOpacity: 0.5, strokeWidth: 2 }),
          Plot.line(bins.filter((bin) => bin.rows >= 5), { x: "predicted", y: "observed", stroke: "var(--c1)", strokeWidth: 1.2, strokeOpacity: 0.6 }),
          Plot.dot(bins, { x: "predicted", y: "observed", fill: (d) => (d.rows >= 5 ? "var(--c1)" : "var(--card)"), stroke: "var(--c1)", r: "rows" }),
          Plot.tip(bins, Plot.pointer({ x: "predicted", y: "observed", title: (d) => `said ${percent(d.predicted)}, came true ${percent(d.observed)}\n${d3.format(",")(d.rows)} rows` })),
        ],
      }),
      plot(width, 84, {
        x: { ...axis, label: "predicted probability" }, y: { axis: null }, marginTop: 4,
        marks: [Plot.rectY(bins, { x1: (d) => Math.max(0, d.predicted - 0.035), x2: (d) => Math.min(1, d.predicted + 0.035), y: "rows", fill: "var(--quiet)", fillOpacity: 0.6 }), Plot.ruleY([0], { stroke: "var(--line)" })],
      }),
    );
    return box;
  },
  roc: (data, width) => ranked(data.roc, width, "false positive rate", "true positive rate", [Plot.line([[0, 0], [1, 1]], { stroke: "var(--quiet)", strokeDasharray: "4,3" })], "AUC"),
  precision_recall: (data, width) => ranked(data.precision_recall, width, "recall", "precision", data.precision_recall.map((curve, i) => Plot.ruleY([curve.base], { stroke: data.precision_recall.length > 1 ? colour(i) : "var(--quiet)", strokeDasharray: "4,3", strokeOpacity: 0.7 })), "AP"),
  predictions(data, width) {
    const points = data.truth.map((truth, k) => ({ truth, predicted: data.predicted[k] }));
    const ends = d3.extent([...data.truth, ...data.predicted]);
    return plot(width, 320, {
      x: { label: "true", domain: ends, nice: true }, y: { label: "predicted", domain: ends, nice: true, grid: true },
      marks: [
        Plot.line(ends.map((v) => [v, v]), { stroke: "var(--ink)", strokeDasharray: "4,3" }),
        Plot.dot(points, { x: "truth", y: "predicted", fill: "var(--c1)", fillOpacity: 0.45, r: 2.6 }),
        Plot.tip(points, Plot.pointer({ x: "truth", y: "predicted", title: (d) => `true ${short(d.truth)}\npredicted ${short(d.predicted)}` })),
      ],
    });
  },
  residuals(data, width) {
    const points = data.truth.map((truth, k) => ({ predicted: data.predicted[k], residual: truth - data.predicted[k] }));
    return plot(width, 320, {
      x: { label: "predicted", nice: true }, y: { label: "truth − prediction", grid: true },
      marks: [
        Plot.ruleY([0], { stroke: "var(--ink)", strokeDasharray: "4,3" }),
        Plot.dot(points, { x: "predicted", y: "residual", fill: "var(--c1)", fillOpacity: 0.45, r: 2.6 }),
        points.length > 30 ? Plot.line(points, Plot.windowY({ k: Math.max(11, Math.round(points.length / 8)), reduce: "median" }, { x: "predicted", y: "residual", sort: "predicted", stroke: "var(--c2)", strokeWidth: 2 })) : null,
        Plot.tip(points, Plot.pointer({ x: "predicted", y: "residual", title: (d) => `predicted ${short(d.predicted)}\nresidual ${short(d.residual)}` })),
      ],
    });
  },
  residual_histogram(data, width) {
    const bins = data.counts.map((count, k) => ({ count, x1: data.edges[k], x2: data.edges[k + 1] }));
    return plot(width, 220, {
      x: { label: "truth − prediction" }, y: { label: "rows", grid: true },
      marks: [Plot.rectY(bins, { x1: "x1", x2: "x2", y: "count", fill: "var(--c1)", inset: 0.5 }), Plot.ruleX([0], { stroke: "var(--ink)", strokeDasharray: "4,3" }), Plot.ruleY([0], { stroke: "var(--line)" })],
    });
  },
  importance(data, width) {
    const bars = data.columns.map((name, k) => ({ k, name, mean: data.mean[k], std: data.std[k] }));
    const left = Math.min(190, width * 0.4, 20 + 6.6 * d3.max(data.columns, (name) => Math.min(name.length, 26)));
    return plot(width, 50 + 24 * bars.length, {
      marginLeft: left, marginTop: 6,
      x: { label: `${data.score} lost`, grid: true, ticks: 5 }, y: { domain: d3.range(bars.length), tickFormat: (k) => cut(data.columns[k], Math.floor((left - 16) / 6.4)), tickSize: 0, label: null },
      marks: [
        Plot.barX(bars, { x: "mean", y: "k", fill: "var(--c1)", insetTop: 3, insetBottom: 3, rx: 2 }),
        Plot.ruleY(bars, { x1: (d) => d.mean - d.std, x2: (d) => d.mean + d.std, y: "k", stroke: "var(--ink)", strokeWidth: 1.4 }),
        Plot.ruleX([0], { stroke: "var(--quiet)" }),
        Plot.tip(bars, Plot.pointerY({ x: "mean", y: "k", title: (d) => `${d.name}\n${short(d.mean)} ± ${short(d.std)}` })),
      ],
    });
  },
  dependence(data, width) {
    const single = data.labels.length === 1;
    const points = data.mean.map((row, c) => row.map((mean, k) => ({ x: data.values[k], mean, low: data.low[c][k], high: data.high[c][k], label: data.labels[c] })));
    const marks = [];
    if (data.categories) {
      points.forEach((row, c) => marks.push(
        single ? Plot.ruleX(row, { x: "x", y1: "low", y2: "high", stroke: colour(0), strokeOpacity: 0.3, strokeWidth: 7 }) : null,
        Plot.dot(row, { x: "x", y: "mean", fill: colour(data.places[c]), r: 4 })));
    } else {
      points.forEach((row, c) => marks.push(
        single ? Plot.areaY(row, { x: "x", y1: "low", y2: "high", fill: colour(c), fillOpacity: 0.15 }) : null,
        Plot.line(row, { x: "x", y: "mean", stroke: colour(data.places[c]), strokeWidth: 2, strokeDasharray: dash(data.places[c]) })));
      marks.push(Plot.tickX(data.marks, { x: (d) => d, stroke: "var(--quiet)", insetTop: 138 }));
    }
    marks.push(Plot.tip(points.flat(), Plot.pointer({ x: "x", y: "mean", title: (d) => `${d.label ? `${d.label}: ` : ""}${short(d.mean)}\n${typeof d.x === "number" ? short(d.x) : d.x}` })));
    const x = data.categories ? { label: null, domain: data.values, tickFormat: (d) => cut(String(d), 10), tickRotate: data.values.length > 5 ? -35 : 0 } : { label: null, tickFormat: short, ticks: 5 };
    const drawn = plot(width, 200, { x, y: { label: data.what, domain: data.limits, nice: true, grid: true, ticks: 5 }, marginBottom: data.categories && data.values.length > 5 ? 56 : 26, marks });
    return single ? drawn : withLegend(data.labels, drawn, (c) => colour(data.places[c]), (c) => dash(data.places[c]));
  },
  regions(data, width) {
    const height = Math.min(Math.max(300, 0.62 * width), 480);
    const steps = data.x.length;
    const ends = (v) => [v[1], v[v.length - 2]]; // lines at the rim of the grid are outside
    const grid = { clip: true, width: steps, height: steps, x1: data.x[0], x2: data.x[steps - 1], y1: data.y[0], y2: data.y[steps - 1] };
    const points = data.points.map(([x, y], k) => ({ x, y, target: data.targets[k] }));
    const symbols = ["circle", "square", "triangle", "diamond", "cross", "star"];
    const base = { x: { domain: ends(data.x), label: cut(data.columns[0], 30) }, y: { domain: ends(data.y), label: cut(data.columns[1], 30) } };
    const mixed = (share, name) => `color-mix(in srgb, ${name} ${Math.round(share * 100)}%, var(--card))`;
    if (!data.labels.length) {
      const all = [...data.values[0].flat(), ...data.targets];
      const [low, high] = d3.extent(all);
      const thresholds = d3.ticks(low, high, 12);
      const ramp = thresholds.concat([high]).map((_, k) => d3.interpolateViridis(k / thresholds.length));
      return plot(width, height, {
        ...base, color: { type: "threshold", domain: thresholds, range: ramp, legend: true, label: "predicted", tickFormat: short },
        marks: [Plot.contour(data.values[0].flat(), { ...grid, fill: Plot.identity, thresholds, fillOpacity: 0.85 }), Plot.dot(points, { x: "x", y: "y", fill: "target", stroke: "white", strokeWidth: 0.8, r: 3.4 })],
      });
    }
    const dots = data.labels.map((_, c) => Plot.dot(points.filter((p) => p.target === c), { x: "x", y: "y", symbol: symbols[c % 6], fill: colour(c), stroke: "var(--card)", strokeWidth: 0.8, r: 3.4 }));
    if (data.labels.length === 2) {
      const levels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
      const range = [...levels, 1].map((_, k) => (k < 5 ? mixed(0.1 + 0.1 * (4 - k), colour(0)) : mixed(0.1 + 0.1 * (k - 5), colour(1))));
      const flat = data.values[0].flat();
      return withLegend(data.labels, plot(width, height, {
        ...base, color: { type: "threshold", domain: levels, range },
        marks: [Plot.contour(flat, { ...grid, fill: Plot.identity, thresholds: [0, ...levels] }), Plot.contour(flat, { ...grid, thresholds: [0.5], stroke: "var(--ink)", strokeWidth: 1.6 }), ...dots],
      }));
    }
    return withLegend(data.labels, plot(width, height, {
      ...base,
      marks: [...data.values.map((values, c) => Plot.contour(values.flat(), { ...grid, thresholds: [0], fill: mixed(0.32, colour(c)), stroke: "var(--quiet)", strokeWidth: 0.8 })), ...dots],
    }));
  },
  bars(data, width) {
    if (!data.labels.length) {
      const edges = data.edges ?? d3.range(data.counts.length + 1);
      const bins = data.counts.map((count, k) => ({ count, x1: edges[k], x2: edges[k + 1] }));
      return plot(width, 200, { x: { label: null }, y: { label: "rows", grid: true, ticks: 5, tickFormat: "~s" }, marginBottom: 24, marks: [Plot.rectY(bins, { x1: "x1", x2: "x2", y: "count", fill: "var(--c1)", inset: 0.5 }), Plot.ruleY([0], { stroke: "var(--quiet)" })] });
    }
    const total = d3.sum(data.counts) + data.others;
    const bars = data.labels.map((label, k) => ({ k, count: data.counts[k] })).concat(data.others ? [{ k: data.labels.length, count: data.others }] : []);
    const name = (k) => (k === data.labels.length ? "others" : data.labels[k]);
    const left = Math.min(150, 20 + 6.6 * d3.max(bars, (bar) => Math.min(name(bar.k).length, 20)));
    return plot(width, 26 + 25 * bars.length, {
      marginLeft: left, marginTop: 4, marginBottom: 10, marginRight: 90, x: { axis: null }, y: { domain: bars.map((bar) => bar.k), tickFormat: (k) => cut(name(k), 20), tickSize: 0, label: null },
      marks: [Plot.barX(bars, { x: "count", y: "k", fill: "var(--c1)", insetTop: 3, insetBottom: 3, rx: 2 }), Plot.text(bars, { x: "count", y: "k", text: (d) => `${d3.format(",")(d.count)} (${percent(d.count / total)})`, dx: 6, textAnchor: "start", fill: "var(--quiet)" }), Plot.ruleX([0], { stroke: "var(--quiet)" })],
    });
  },
  spark(data) {
    const bars = data.counts.map((count, k) => ({ count, k }));
    return Plot.plot({ width: 96, height: 24, margin: 0, x: { axis: null, domain: d3.range(bars.length), padding: 0.08 }, y: { axis: null }, marks: [Plot.barY(bars, { x: "k", y: "count", fill: "var(--c1)", fillOpacity: data.labels.length ? 0.55 : 0.9 })] });
  },
  seconds: (data, width) => plot(width, 160, { x: { label: "epoch", ticks: d3.ticks(1, data.seconds.length, 8).filter(Number.isInteger), tickFormat: "d" }, y: { label: "seconds", grid: true, ticks: 4, tickFormat: short }, marks: [Plot.barY(data.seconds, { x: (_, k) => k + 1, y: (d) => d, fill: "var(--c1)" }), Plot.ruleY([0], { stroke: "var(--quiet)" })] }),
  // every unit of a layer over the looks, as an image: 1000 units are 1000 pixels
  units(data, width, element) {
    const layer = data.layers[Number(element.dataset.layer)];
    const looks = layer.open.length;
    const root = document.documentElement;
    const [paper, ink] = root.dataset.printing ? ["#ffffff", "#0072b2"] : ["--card", "--c1"].map((name) => getComputedStyle(root).getPropertyValue(name).trim());
    const values = layer.open.flatMap((line) => Array.from(line, Number));
    return plot(width, Math.max(110, Math.min(200, 60 + 5 * looks)), {
      marginLeft: 50, marginTop: 26, x: { label: "unit", domain: [0, layer.units], ticks: Math.min(layer.units, 6), tickFormat: ",d" },
      y: { label: "step", domain: [looks, 0], ticks: Math.min(looks, 4), tickFormat: (k) => short(data.steps[Math.min(looks - 1, Math.max(0, Math.round(k)))]) },
      color: { type: "linear", domain: [0, 9], range: [paper, ink] },
      marks: [Plot.raster(values, { width: layer.units, height: looks, x1: 0, x2: layer.units, y1: 0, y2: looks, fill: Plot.identity, imageRendering: "pixelated" }), Plot.frame({ stroke: "var(--line)" })],
    });
  },
};

function ranked(curves, width, x, y, marks, word) {
  const axis = { domain: [0, 1], ticks: 5 };
  const points = curves.map((curve) => curve.x.map((value, k) => ({ x: value, y: curve.y[k], label: curve.label })));
  const drawn = plot(width, 320, {
    x: { ...axis, label: x }, y: { ...axis, label: y, grid: true },
    marks: [
      ...marks,
      ...points.map((row, i) => Plot.line(row, { x: "x", y: "y", stroke: colour(i), strokeWidth: 2, curve: word === "AP" ? "step-before" : "linear" })),
      Plot.tip(points.flat(), Plot.pointer({ x: "x", y: "y", title: (d) => `${d.label}\n${x} ${short(d.x)}\n${y} ${short(d.y)}` })),
    ],
  });
  return withLegend(curves.map((curve) => `${cut(curve.label, 28)} (${word} ${d3.format(".3f")(curve.area)})`), drawn);
}

// a histogram of one layer at one look, with the first look as an outline; heights are shares over widths of bins
function histogram(frames, look, width, label, hue, fixed) {
  const bars = (k) => {
    const step = (frames.high[k] - frames.low[k]) / frames.shares[k].length;
    return frames.shares[k].map((share, b) => ({ x1: frames.low[k] + b * step, x2: frames.low[k] + (b + 1) * step, y: share / step }));
  };
  const outline = (k) => [{ x: frames.low[k], y: 0 }, ...bars(k).flatMap((bar) => [{ x: bar.x1, y: bar.y }, { x: bar.x2, y: bar.y }]), { x: frames.high[k], y: 0 }];
  const [peak, first] = [look, 0].map((k) => d3.max(bars(k), (bar) => bar.y));
  const top = 1.08 * (Math.max(peak, Math.min(first, 3 * peak)) || 1);
  const domain = fixed ? frames.limits : [frames.low[look], frames.high[look]];
  return Plot.plot({
    width, height: 92, marginTop: 6, marginBottom: 20, marginLeft: 8, marginRight: 8, ariaLabel: label,
    x: { domain, ticks: width < 300 ? 3 : 5, tickFormat: short, label: null, tickSize: 3 }, y: { domain: [0, top], type: "sqrt", axis: null },
    marks: [
      domain[0] < 0 && domain[1] > 0 ? Plot.ruleX([0], { stroke: "var(--line)" }) : null,
      Plot.areaY(outline(look), { x: "x", y1: 0, y2: "y", fill: hue, fillOpacity: 0.75, clip: true }),
      frames.shares.length > 1 && look > 0 && frames.zeros[look] < 1 ? Plot.line(outline(0), { x: "x", y: "y", stroke: "var(--quiet)", strokeWidth: 1.1, strokeOpacity: 0.75, clip: true }) : null,
      Plot.ruleY([0], { stroke: "var(--quiet)" }),
    ],
  });
}
