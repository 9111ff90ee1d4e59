"use strict";
// The charts: one time axis, one cursor, one marked moment.

const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const FINE = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const PARTS = ["blue", "orange", "violet", "teal", "pink", "olive", "green", "red"];
const color = (name, share = 1) => {
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return share === 1 ? value : value + Math.round(share * 255).toString(16).padStart(2, "0");
};
const number = (value, unit = "") =>
  value === null || value === undefined ? "–" : ([[1e5, SHORT], [100, WHOLE], [10, NUMBER]].find(([least]) => Math.abs(value) >= least)?.[1] ?? FINE).format(value) + unit.replace(" ", "\u00a0");
const percent = (value, digits = 0) => (value === null || value === undefined ? "–" : `${fixed(100 * value, digits)}\u00a0%`);
const fixed = (value, digits) => value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"); // no "-0"

const line = (label, key, hue, more = {}) => ({ label, key, hue, unit: "", ...more });

// Each chart: title, series by their column, bands between two of them.
function chartPlans(data, detailed) {
  const queries = Object.keys(data.lags || {});
  const parts = Object.keys(data.parts_s || {});
  const plans = [
    {
      id: "rate", title: "Arrival rate and forecast", unit: "rows/s", height: 150,
      series: [
        line("forecast, 99th percentile", "forecast_p99", "violet", { width: 0, hide: true }),
        line("forecast, median", "forecast_p50", "violet", { dash: [5, 4], width: 1.5 }),
        line("arrival rate", "rate", "blue", { width: 2 }),
      ],
      bands: [[0, 1, "violet", 0.16]],
      extra: [["up to p99", "violet", "fill"]],
    },
    {
      id: "executors", title: "Executors", unit: "", height: 160, steps: true,
      series: [
        line("ceiling", "ceiling", "soft", { dash: [2, 4], width: 1.5 }),
        line("floor", "floor", "soft", { dash: [2, 4], width: 1.5 }),
        line("wanted by the policy", "wanted", "orange", { width: 1.5 }),
        line("target", "target", "violet", { width: 1.5, dash: [6, 3] }),
        line("running", "executors", "blue", { width: 2.2, fill: 0.16 }),
      ],
      bands: [[2, 3, "orange", 0.14]],
      extra: [["held by guards", "orange", "fill"]],
    },
    {
      id: "latency", title: "Latency and the objective", unit: "s", height: 150,
      series: [
        line("late rows", "late", "red", { scale: "share", fill: 0.3, width: 0, share: true, steps: true }),
        line("objective", "slo_s", "red", { dash: [6, 4], width: 1.5 }),
        line("99 % of rows", "latency_p99", "orange", { width: 1.6 }),
        line("50 % of rows", "latency_p50", "blue", { width: 2 }),
      ],
      bands: [],
    },
    {
      id: "backlog", title: "Backlog", unit: "rows", height: 120, axis: !detailed || !parts.length,
      series:
        queries.length > 1
          ? queries.map((name, place) => line(name, ["lags", name], PARTS[place % PARTS.length], { width: 1.6 }))
          : [line("rows that wait", "lag_rows_max", "teal", { width: 1.8, fill: 0.16 })],
      bands: [],
    },
  ];
  if (detailed && parts.length) plans.push(phasePlan(parts));
  plans[plans.length - 1].axis = true;
  return plans;
}

function phasePlan(parts) {
  const ordered = parts.filter((name) => name !== "addBatch").concat(parts.includes("addBatch") ? ["addBatch"] : []);
  return {
    id: "phases", title: "Phases of a batch", unit: "s", height: 130, stacked: true,
    series: ordered.map((name, place) =>
      line(name, ["parts_s", name], name === "addBatch" ? "blue" : PARTS[(place + 1) % PARTS.length], { width: 1, fill: 0.35 })),
    bands: [],
  };
}

const columnOf = (data, key) => (Array.isArray(key) ? data[key[0]][key[1]] : data[key]) || data.t.map(() => null);

function tableOf(plan, data) {
  const columns = plan.series.map((item) => columnOf(data, item.key));
  if (!plan.stacked) return columns;
  // Drawn from the highest sum to the lowest, so that each area stays visible above the next.
  const sums = [];
  columns.forEach((column, place) =>
    sums.push(column.map((value, row) => (value === null ? null : value + (place ? sums[place - 1][row] || 0 : 0)))));
  return sums;
}

class Charts {
  constructor(host, { onZoom, onReset, onPick, label }) {
    this.host = host;
    this.callbacks = { onZoom, onReset, onPick };
    this.plots = [];
    this.mark = null;
    this.events = [];
    host.tabIndex = 0;
    host.setAttribute("role", "group");
    host.setAttribute("aria-label", label);
    host.addEventListener("keydown", (event) => this.key(event));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
  }

  show(data, detailed) {
    this.data = data;
    const shape = JSON.stringify(chartPlans(data, detailed).map((plan) => plan.series.map((item) => item.label)));
    if (shape === this.shape) {
      this.plots.forEach((chart) => chart.plot.setData([data.t, ...tableOf(chart.plan, data)].map((column) => column)));
      this.legends();
      return;
    }
    this.shape = shape;
    this.detailed = detailed;
    this.build();
  }

  build() {
    this.plots.forEach((chart) => chart.plot.destroy());
    this.host.replaceChildren();
    this.plots = chartPlans(this.data, this.detailed).map((plan) => this.chart(plan));
    this.legends();
  }

  chart(plan) {
    const legend = h("ul", { class: "legend" });
    const figure = h("div", { class: "plot", role: "img", "aria-label": plan.title });
    const box = h("div", { class: "chart" }, h("div", { class: "head" }, h("h2", {}, plan.title + (plan.unit ? `, ${plan.unit}` : "")), legend), figure);
    this.host.append(box);
    const plot = new uPlot(this.options(plan), [this.data.t, ...tableOf(plan, this.data)], figure);
    const chart = { plan, plot, legend, figure };
    this.legend(chart);
    return chart;
  }

  width() {
    return Math.max(240, this.host.clientWidth);
  }

  options(plan) {
    const narrow = this.width() < 560;
    const steps = uPlot.paths.stepped({ align: 1 });
    const axis = { stroke: color("soft"), grid: { stroke: color("grid"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const height = (narrow ? 0.85 : 1) * plan.height + (plan.axis ? 32 : 0);
    return {
      width: this.width(), height, legend: { show: false },
      padding: [8, 10, plan.axis ? 0 : 6, 0],
      cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 6 }, bind: { dblclick: () => () => this.callbacks.onReset() } },
      scales: {
        x: { time: true, range: () => [this.data.from_s ?? this.data.t[0], this.data.to_s ?? this.data.t[this.data.t.length - 1]] },
        y: { range: (_, low, high) => [0, Math.max(plan.steps ? 1.2 : 0.5, (high || 1) * 1.1)] },
        share: { range: () => [0, 1] },
      },
      axes: [
        { ...axis, show: !!plan.axis, size: 32, space: narrow ? 70 : 90, values: timeLabels },
        { ...axis, size: narrow ? 42 : 52, gap: 6, values: (_, ticks) => ticks.map((tick) => SHORT.format(tick)), incrs: plan.steps ? [1, 2, 5, 10, 20, 50, 100, 200, 500] : undefined, space: 28 },
      ],
      series: [
        {},
        ...plan.series.map((item) => ({
          label: item.label, scale: item.scale || "y", stroke: item.width === 0 ? "transparent" : color(item.hue), width: item.width || 0,
          dash: item.dash, fill: item.fill ? color(item.hue, item.fill) : undefined, points: { show: false }, spanGaps: false,
          paths: plan.steps || item.steps ? steps : undefined,
        })),
      ],
      bands: plan.stacked
        ? plan.series.slice(1).map((_, place) => ({ series: [place + 2, place + 1], fill: color(plan.series[place + 1].hue, 0.45) }))
        : plan.bands.map(([above, below, hue, share]) => ({ series: [above + 1, below + 1], fill: color(hue, share) })),
      hooks: {
        draw: [(plot) => this.drawMarks(plot, plan)],
        setCursor: [(plot) => this.cursor(plot)],
        setSelect: [(plot) => this.select(plot)],
      },
    };
  }

  drawMarks(plot, plan) {
    const { ctx, bbox } = plot;
    const at = (t_s) => plot.valToPos(t_s, "x", true);
    ctx.save();
    if (plan.id === "executors") {
      for (const event of this.events) {
        const x = at(event.t_s);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.fillStyle = color(event.kind !== "change" ? "violet" : event.after > event.before ? "blue" : "green");
        const up = event.kind === "change" && event.after > event.before, y = bbox.top + 3 * devicePixelRatio, size = 4.5 * devicePixelRatio;
        ctx.beginPath();
        ctx.moveTo(x - size, up ? y + 1.6 * size : y); ctx.lineTo(x + size, up ? y + 1.6 * size : y); ctx.lineTo(x, up ? y : y + 1.6 * size);
        ctx.fill();
      }
    }
    for (const [t_s, hue, dash] of [[this.data.now, "soft", [3, 3]], [this.mark, "red", []]]) {
      if (t_s === null || t_s === undefined) continue;
      const x = at(t_s);
      if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
      if (hue === "soft" && t_s === this.data.t[this.data.t.length - 1]) continue;
      ctx.strokeStyle = color(hue); ctx.lineWidth = 1.5 * devicePixelRatio; ctx.setLineDash(dash.map((part) => part * devicePixelRatio));
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
    }
    ctx.restore();
  }

  setMark(t_s) {
    this.mark = t_s;
    this.plots.forEach(({ plot }) => plot.redraw(false, false));
    if (t_s !== null) this.legends(this.nearest(t_s));
  }

  setEvents(events) {
    this.events = events.filter((event) => !["kept", "start", "command"].includes(event.kind));
    this.plots.forEach(({ plot, plan }) => plan.id === "executors" && plot.redraw(false, false));
  }

  nearest(t_s) {
    const times = this.data.t;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t_s) low = middle; else high = middle - 1;
    }
    return low;
  }

  cursor(plot) {
    if (plot.cursor.event) this.legends(plot.cursor.idx);
  }

  select(plot) {
    const { left, width } = plot.select;
    if (width < 6) return;
    const range = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.callbacks.onZoom(...range);
  }

  key(event) {
    const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -1e9, End: 1e9 };
    if (event.key in moves) {
      const last = this.data.t.length - 1;
      this.place = Math.min(last, Math.max(0, (this.place ?? last) + moves[event.key]));
      this.setMark(this.data.t[this.place]);
      event.preventDefault();
    } else if (event.key === "Enter" && this.mark !== null) {
      this.callbacks.onPick(this.mark);
    } else if (event.key === "Escape") {
      this.callbacks.onReset();
    }
  }

  legends(place) {
    if (place === undefined && this.mark !== null) place = this.nearest(this.mark);
    this.plots.forEach((chart) => this.legend(chart, place));
  }

  legend({ plan, legend, figure }, place) {
    const times = this.data.t;
    const last = this.data.now ? this.nearest(this.data.now) : times.length - 1;
    const row = place ?? last;
    const items = plan.series.filter((item) => !item.hide).map((item) => {
      const value = columnOf(this.data, item.key)[row];
      return [item.label, item.share ? percent(value, 1) : number(value), item.hue, item.dash ? "dash" : item.share ? "fill" : ""];
    });
    for (const [label, hue, kind] of plan.extra || []) items.push([label, "", hue, kind]);
    if (plan.id === "rate") items.push(["forecast error", errorAt(this.data, row), "", ""]);
    if (plan.id === "executors") {
      const starting = Math.max(0, (this.data.target[row] ?? 0) - (this.data.executors[row] ?? 0));
      if (starting >= 0.5) items.push(["starting", number(starting), "", ""]);
    }
    legend.replaceChildren(...items.map(([label, value, hue, kind]) =>
      h("li", {}, hue ? h("span", { class: `swatch ${kind}`, style: `--c: var(--${hue})`, "aria-hidden": "true" }) : "", `${label} `, value === "" ? "" : h("b", {}, value))));
    figure.setAttribute("aria-label", `${plan.title} at ${clock(times[row])}: ${items.filter((item) => item[1] !== "").map((item) => `${item[0]} ${item[1]}`).join(", ")}`);
  }

  resize() {
    if (this.plots.length && this.width() !== this.plots[0].plot.width) this.build();
  }

  destroy() {
    this.observer.disconnect();
    this.plots.forEach((chart) => chart.plot.destroy());
  }
}

function errorAt(data, row) {
  const rate = data.rate[row], forecast = data.forecast_p50[row];
  return rate && forecast !== null && forecast !== undefined ? percent(forecast / rate - 1) : "–";
}

// The median of the absolute errors of the median forecast, of the points that are shown.
function forecastError(data) {
  const errors = data.t.flatMap((_, row) => {
    const rate = data.rate[row], forecast = data.forecast_p50[row];
    return rate > 0 && forecast !== null && forecast !== undefined ? [Math.abs(forecast / rate - 1)] : [];
  }).sort((a, b) => a - b);
  return errors.length > 4 ? errors[errors.length >> 1] : null;
}

const pad = (value) => String(value).padStart(2, "0");
function clock(t_s, seconds = true) {
  if (!t_s) return "";
  const at = new Date(t_s * 1000);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}${seconds ? `:${pad(at.getSeconds())}` : ""}`;
}
const day = (t_s) => new Date(t_s * 1000).toLocaleDateString("en", { day: "numeric", month: "short" });
function timeLabels(plot, ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 0;
  let before = "";
  return ticks.map((tick) => {
    const date = day(tick), isNew = date !== before;
    before = date;
    const text = step >= 86400 ? date : clock(tick, step < 60);
    return isNew && step < 86400 && plot.width > 560 ? `${text}\n${date}` : text;
  });
}
