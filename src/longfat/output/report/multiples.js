// Draws charts of many cases in small multiples: lines, points, distributions and heat maps.
//
// The data are those of `longfat.output.report.multiples`. Drag over a part of one multiple to see that
// part of all of them, double-click to see all again, hover over a point to read its case.

function multiplesOf(tools) {
  const { Plotly, CONFIG, NARROW, REFERENCE_DASHES, Legend, looks, names } = tools;
  const { ink, colourOf, ground, commonLayout, axisLooks } = tools;
  const SIGNS = {
    circle: "●", square: "■", "triangle-up": "▲", diamond: "◆", "triangle-down": "▼",
    cross: "✚", x: "✖", "triangle-left": "◀", "triangle-right": "▶",
  };
  const SAMPLES = { dash: "6px,4px", dot: "2px,3px", dashdot: "7px,3px,2px,3px", longdash: "9px,3px" };
  const MANY = 400; // points of a multiple: small and light from here on
  const FEW_BARS = 14; // points of a line whose spread is drawn as bars

  const plain = (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const number = (value) =>
    value !== 0 && Math.abs(value) < 1e-3
      ? value.toExponential(2)
      : Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });

  // What the place of a point says: a text, a number with its unit, or the 0 beside a log scale.
  function told(axis, value) {
    if (axis.texts) return axis.ticks[1][Math.round(value)] ?? "";
    const unit = axis.unit ? ` ${axis.unit}` : "";
    return number(axis.zero !== null && value === axis.zero ? 0 : value) + unit;
  }
  const named = (axis) => axis.title.replace(/ \([^()]*\)$/, "");
  const idOf = (series) => (series.rank === null ? `look ${series.look}` : `rank ${series.rank}`);
  const formulaLine = (rank, look) => ({
    color: look === null ? ink("ink") : colourOf(look),
    width: 1.4,
    dash: REFERENCE_DASHES[rank % 4],
  });

  class Facet {
    constructor(chart, spec, rank) {
      Object.assign(this, { chart, spec, rank, near: false, plotted: false });
      this.box = element("div", { class: "plot" });
      const heading = spec.title
        ? [element("p", { class: "panel-title" }, element("b", {}, spec.title))]
        : [];
      this.root = element("div", { class: "panel" }, ...heading, this.box);
      this.box.style.minHeight = `${this.height}px`;
    }
    get height() {
      if (!this.chart.spec.colour) return this.chart.spec.facets.length > 1 ? 250 : 380;
      return Math.max(220, Math.min(560, 90 + this.spec.z.length * 34));
    }
    draw() {
      if (!this.near) return;
      const narrow = this.box.clientWidth < NARROW;
      const layout = {
        ...commonLayout(narrow),
        height: this.height,
        margin: { l: 56, r: 14, t: 8, b: 46 },
        hovermode: "closest",
        xaxis: this.axis("x"),
        yaxis: this.axis("y"),
        shapes: this.marks(),
      };
      Plotly.react(this.box, this.traces(), layout, CONFIG);
      if (!this.plotted) {
        this.plotted = true;
        this.box.on("plotly_relayout", (change) => this.chart.zoomed(this, change));
        this.box.on("plotly_doubleclick", () => this.chart.show(null));
      }
    }
    axis(name) {
      const axis = this.chart.spec[name];
      const title = { text: plain(axis.title), standoff: 6, font: { size: 12 } };
      const range = this.chart.zoom?.[name];
      const looks = { ...axisLooks(), title, automargin: true, zeroline: false };
      const ticks = { tickmode: "array", tickvals: axis.ticks[0], ticktext: axis.ticks[1].map(plain) };
      return {
        ...looks,
        type: axis.log ? "log" : "linear",
        range: [...(range ?? axis.range)],
        ...(range && !axis.texts ? { tickmode: "auto", nticks: 6 } : ticks),
      };
    }
    marks() {
      const { legend, spec } = this.chart;
      const light = { color: ink("muted"), width: 1, dash: "dot" };
      const paper = { type: "line", layer: "below", xref: "paper", yref: "paper", line: light };
      const fixed = [];
      if (spec.x.fence !== null) {
        fixed.push({ ...paper, xref: "x", x0: spec.x.fence, x1: spec.x.fence, y0: 0, y1: 1 });
      }
      if (spec.kind === "cdf") fixed.push({ ...paper, yref: "y", x0: 0, x1: 1, y0: 0.5, y1: 0.5 });
      const marks = this.spec.marks
        .filter((mark) => !legend.hidden.has(`rank ${mark.rank}`))
        .map((mark) => ({
          type: "line",
          xref: mark.upright ? "x" : "paper",
          yref: mark.upright ? "paper" : "y",
          x0: mark.upright ? mark.at : 0, x1: mark.upright ? mark.at : 1,
          y0: mark.upright ? 0 : mark.at, y1: mark.upright ? 1 : mark.at,
          line: formulaLine(mark.rank, mark.look),
        }));
      return [...fixed, ...marks];
    }
    traces() {
      const shown = this.spec.series.filter((one) => !this.chart.legend.hidden.has(idOf(one)));
      const crowd = this.spec.series.reduce((sum, one) => sum + one.x.length, 0);
      const measured = shown.filter((one) => one.rank === null);
      return shown.flatMap((one) =>
        one.rank === null
          ? this.measured(one, crowd, measured.indexOf(one), measured.length)
          : [{
            type: "scatter", mode: "lines", x: one.x, y: one.y,
            line: formulaLine(one.rank, one.look), hoverinfo: "text",
            hovertext: plain(one.label), connectgaps: false,
          }]);
    }
    measured(one, crowd, place, count) {
      const { spec } = this.chart;
      const { symbol, dash } = looks[one.look];
      const colour = colourOf(one.look);
      const [points, steps] = [spec.kind === "points", spec.kind === "cdf"];
      const many = points && crowd > MANY;
      const apart = !points && spec.x.texts ? (place - (count - 1) / 2) * Math.min(0.14, 0.7 / count) : 0;
      const x = apart ? one.x.map((value) => value + apart) : one.x;
      const label = plain(one.label);
      const found = [];
      const bars = one.low && (spec.x.texts || points ? !many : one.x.length <= FEW_BARS);
      if (one.low && !bars && !many) {
        const edge = { type: "scatter", mode: "lines", x, line: { width: 0 }, hoverinfo: "skip" };
        found.push({ ...edge, y: one.low });
        found.push({ ...edge, y: one.high, fill: "tonexty", fillcolor: `${colour}2a` });
      }
      const joined = !points && !spec.x.texts;
      // From 0 to a logarithmic scale there is no way that a line could show.
      const fromZero = joined && spec.x.zero !== null && one.x[0] === spec.x.zero;
      // A distribution begins at 0, and goes on to the right at its last height.
      const end = spec.x.log ? 10 ** spec.x.range[1] : spec.x.range[1];
      const whole = (list, first, last) => (steps ? [first, ...list, last] : list);
      const gap = (list) => (fromZero ? [list[0], null, ...list.slice(1)] : list);
      found.push({
        type: "scatter",
        mode: !joined ? "markers" : steps || one.x.length > 60 ? "lines" : "lines+markers",
        x: whole(gap(x), x[0], end),
        y: whole(gap(one.y), 0, one.y.at(-1)),
        line: { color: colour, width: 2, dash, shape: steps ? "hv" : "linear" },
        marker: {
          color: colour, symbol: points && !many ? `${symbol}-open` : symbol,
          size: many ? 4 : 7, opacity: many ? 0.6 : 1, line: { width: many ? 0 : 1.4, color: colour },
        },
        error_y: bars
          ? {
            type: "data", symmetric: false, color: colour, thickness: 1.2, width: 3,
            array: gap(one.high.map((high, at) => (high === null ? 0 : high - one.y[at]))),
            arrayminus: gap(one.low.map((low, at) => (low === null ? 0 : one.y[at] - low))),
          }
          : undefined,
        hovertext: whole(gap(one.x.map((_, at) => this.words(one, at))), label, label),
        hovertemplate: "%{hovertext}<extra></extra>",
      });
      return found;
    }
    words(one, at) {
      const { x, y, kind } = this.chart.spec;
      const lines = [];
      if (one.names) lines.push(`<b>${plain(names[one.names[at]])}</b>`);
      if (one.label) lines.push(plain(one.label));
      lines.push(`${plain(named(x))}: ${plain(told(x, one.x[at]))}`);
      const height = kind === "cdf" ? `${number(one.y[at] * 100)} %` : told(y, one.y[at]);
      const spread = one.low && one.low[at] !== null && one.low[at] !== one.high[at]
        ? ` (5-95 %: ${told(y, one.low[at])} to ${told(y, one.high[at])})`
        : "";
      lines.push(`${plain(named(y))}: ${height}${spread}`);
      return lines.join("<br>");
    }
  }

  class HeatFacet extends Facet {
    axis(name) {
      const { title, texts } = this.chart.spec[name];
      const across = name === "x" ? this.box.clientWidth / 60 : 40;
      const step = Math.max(1, Math.ceil(texts.length / across));
      const shown = texts.map((text, at) => [at, text]).filter(([at]) => at % step === 0);
      return {
        ...axisLooks(),
        title: { text: plain(title), standoff: 6, font: { size: 12 } },
        range: [-0.5, texts.length - 0.5],
        tickmode: "array",
        tickvals: shown.map(([at]) => at),
        ticktext: shown.map(([, text]) => plain(text)),
        showgrid: false,
        automargin: true,
        fixedrange: true,
      };
    }
    marks() {
      return [];
    }
    traces() {
      const { x, y, colour } = this.chart.spec;
      const { z, text } = this.spec;
      const unit = colour.unit ? ` ${colour.unit}` : "";
      const cellWidth = (this.box.clientWidth - 80) / Math.max(1, x.texts.length);
      const longest = Math.max(...text.flat().map((one) => one.length));
      const words = z.map((row, up) => row.map((value, at) =>
        value === null
          ? "no value"
          : `${plain(x.title)}: ${plain(x.texts[at])}<br>${plain(y.title)}: ${plain(y.texts[up])}` +
            `<br>${plain(named(colour))}: ${text[up][at]}${unit}`));
      return [{
        type: "heatmap", z, text, colorscale: colour.stops, showscale: false, xgap: 1, ygap: 1,
        zmin: colour.range[0], zmax: colour.range[1],
        texttemplate: longest * 7 + 6 <= cellWidth ? "%{text}" : undefined,
        hovertext: words, hovertemplate: "%{hovertext}<extra></extra>",
      }];
    }
  }

  class Multiples {
    constructor(place, spec) {
      this.spec = spec;
      this.zoom = null;
      this.legend = new Legend(spec.colour ? [] : this.entries(), () => this.draw());
      const Made = spec.colour ? HeatFacet : Facet;
      this.facets = spec.facets.map((facet, rank) => new Made(this, facet, rank));
      const controls = element("div", { class: "controls" });
      if (spec.colour) controls.append(this.scale());
      else if (this.legend.keys.length > 1) {
        if (spec.by) controls.append(element("span", { class: "by" }, spec.by));
        controls.append(this.legend.root);
      }
      if (!spec.colour) {
        this.whole = element("button", { type: "button", "aria-label": "Show all" }, "all");
        this.whole.disabled = true;
        this.whole.addEventListener("click", () => this.show(null));
        controls.append(element("div", { class: "zoom" }, this.whole));
      }
      const grid = element("div", { class: this.facets.length > 1 ? "facets many" : "facets" });
      grid.append(...this.facets.map((facet) => facet.root));
      place.append(controls, grid);
    }
    entries() {
      const found = new Map();
      const joined = this.spec.kind !== "points" && !this.spec.x.texts;
      for (const one of this.spec.facets.flatMap((facet) => facet.series)) {
        if (!one.label || one.rank !== null) continue;
        const { dash, symbol } = looks[one.look];
        const sign = joined ? undefined : SIGNS[symbol];
        found.set(idOf(one), { label: one.label, colour: () => colourOf(one.look), dash, sign });
      }
      for (const facet of this.spec.facets) {
        for (const one of [...facet.series.filter((series) => series.rank !== null), ...facet.marks]) {
          const dash = SAMPLES[REFERENCE_DASHES[one.rank % 4]];
          found.set(`rank ${one.rank}`, {
            label: one.label, dash,
            // Marks of one name may belong to several series.
            colour: () => (one.upright === undefined && one.look !== null ? colourOf(one.look) : ink("ink")),
          });
        }
      }
      return [...found].map(([id, entry]) => ({ id, ...entry }));
    }
    scale() {
      const { title, ticks, range, stops, log } = this.spec.colour;
      const bar = element("span", { class: "scale-bar" });
      bar.style.background = `linear-gradient(to right, ${stops.map((one) => one[1]).join(", ")})`;
      const row = element("span", { class: "scale-ticks" });
      for (const [rank, at] of ticks[0].entries()) {
        const way = ((log ? Math.log10(at) : at) - range[0]) / (range[1] - range[0]);
        const tick = element("span", {}, ticks[1][rank]);
        tick.style.left = `${100 * way}%`;
        row.append(tick);
      }
      const whole = element("span", { class: "scale-whole" }, bar, row);
      return element("div", { class: "scale" }, element("span", { class: "by" }, title), whole);
    }
    // One multiple was zoomed: the others follow.
    zoomed(facet, change) {
      const range = (axis) => {
        const [start, end] = [change[`${axis}.range[0]`], change[`${axis}.range[1]`]];
        return start === undefined ? null : [start, end];
      };
      const [x, y] = [range("xaxis"), range("yaxis")];
      if (this.spec.colour || (!x && !y)) return;
      this.show({ x: x ?? this.zoom?.x, y: y ?? this.zoom?.y });
    }
    show(zoom) {
      if (this.spec.colour) return;
      this.zoom = zoom;
      this.whole.disabled = zoom === null;
      this.draw();
    }
    draw() {
      this.legend.colour();
      this.facets.forEach((facet) => facet.draw());
    }
  }

  return Multiples;
}
