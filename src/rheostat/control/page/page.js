// The page: a list of jobs, or one job. Every text is set as text, never as HTML.

function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "style") element.style.cssText = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const $ = (id) => document.getElementById(id);
const frozen = JSON.parse($("frozen").textContent);
const memory = { get: (key) => { try { return sessionStorage.getItem(key); } catch { return null; } }, set: (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* private mode */ } } };
const state = { job: null, range: null, seconds: null, mark: null, kept: true, sort: ["word", 1], filter: "", charts: null, abort: null, can: {} };
const RANGES = [["15 min", 900], ["1 h", 3600], ["6 h", 21600], ["24 h", 86400], ["7 d", 604800], ["30 d", 2592000], ["All", 0]];
const RANKS = ["Late", "Blind", "Bound", "Halted", "Not scaling", "Healthy"];

function headers() {
  const token = memory.get("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function ask(path, query = {}, options = {}) {
  const known = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const answer = await fetch(`${path}?${new URLSearchParams(known)}`, { ...options, headers: { ...headers(), ...(options.headers || {}) } });
  const body = await answer.json().catch(() => ({ error: `HTTP ${answer.status}` }));
  if (answer.status === 401 && !options.method) openControl("This server needs a token for reading.");
  if (!answer.ok) throw new Error(body.error || `HTTP ${answer.status}`);
  return body;
}

const live = {
  jobs: () => ask("api/jobs"),
  overview: (job) => ask("api/overview", { job }),
  series: (job, from, to, points) => ask("api/series", { job, from, to, points }),
  decisions: (job, from, to) => ask("api/decisions", { job, from, to }),
  record: (job, at) => ask("api/record", { job, at }),
};
const pageOf = (job) => frozen.pages?.[job] ?? frozen; // A page of many jobs, or of one.
const still = {
  jobs: async () => ({ jobs: frozen.jobs, can: {} }),
  overview: async (job) => pageOf(job).overview,
  series: async (job, from, to) => ({ ...pageOf(job).series, from_s: from, to_s: to }),
  decisions: async (job, from, to) => pageOf(job).decisions.filter((entry) => (from === null || (entry.end_s ?? entry.t_s) >= from) && (to === null || entry.t_s <= to)),
  record: async (job, at) => pageOf(job).records.filter((record) => record.t_s <= at + 1e-3).pop() || null,
};
const source = frozen ? still : live;

const executors = (count) => (count === null || count === undefined ? "unknown" : `${number(count)} executor${count === 1 ? "" : "s"}`);
const slots = (count) => (count ? `${count} slot${count === 1 ? "" : "s"}` : "unknown slots");
function duration(seconds) {
  if (seconds === null || seconds === undefined) return "unknown";
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let rest = Math.max(0, Math.round(seconds));
  const parts = [];
  for (const [unit, size] of units) { if (rest >= size) parts.push(`${Math.floor(rest / size)} ${unit}`); rest %= size; }
  return parts.slice(0, 2).join(" ") || "0 s";
}
const tone = (word) => `tone-${word.split(" ")[0]}`;
const failed = (error) => h("p", { class: "notice bad", role: "alert" }, h("b", {}, "Not available. "), error.message);

// ---------------------------------------------------------------- fleet

async function showFleet() {
  stopJob();
  $("crumb").textContent = "";
  if (frozen?.list) { showList(frozen.list); return; }
  let answer;
  try { answer = await source.jobs(); } catch (error) { $("main").replaceChildren(failed(error)); return; }
  Object.assign(state, { can: answer.can, many: answer.jobs.length > 1 });
  if (answer.jobs.length === 1 && !location.hash.startsWith("#/all")) { location.replace(`#/job/${answer.jobs[0].id}`); return; }
  document.title = "Rheostat";
  const body = h("tbody"), counts = h("p", { class: "legend", style: "margin-bottom:.6rem" }), title = h("h1", { style: "font-size:1.5rem" });
  const draw = () => {
    const focused = body.contains(document.activeElement) && document.activeElement.hash;
    title.textContent = `${answer.jobs.length} jobs`;
    counts.replaceChildren(...RANKS.map((word) => [word, answer.jobs.filter((job) => job.word === word).length]).filter(([, count]) => count).map(([word, count]) => h("span", { class: `word ${tone(word)}` }, `${count} ${word}`)));
    body.replaceChildren(...fleetRows(answer.jobs));
    if (focused) body.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
  };
  const filter = h("input", { type: "search", placeholder: "Name or state", value: state.filter, "aria-label": "Filter jobs", oninput: (event) => { state.filter = event.target.value; draw(); } });
  const heads = FLEET.map(([name, key, kind]) => h("th", { scope: "col", class: kind, "data-key": key }, h("button", { type: "button", onclick: () => { state.sort = [key, state.sort[0] === key ? -state.sort[1] : 1]; sortHeads(); draw(); } }, name)));
  const sortHeads = () => heads.forEach((head) => head.dataset.key === state.sort[0] ? head.setAttribute("aria-sort", state.sort[1] > 0 ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
  sortHeads();
  draw();
  $("main").replaceChildren(
    h("section", { class: "card" },
      h("div", { class: "head" }, title, filter), counts,
      answer.jobs.length ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Jobs" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), body)) : h("p", { class: "empty" }, "There is no journal yet.")));
  // Only the rows are drawn again: the focus, and what is being typed, stay.
  const again = async () => {
    const fresh = document.hidden ? answer : await source.jobs().catch(() => null);
    if (!body.isConnected) return;
    connected(fresh !== null);
    if (fresh) { answer = fresh; draw(); }
    state.timer = setTimeout(again, pause());
  };
  const pause = () => Math.max(5000, 50 * answer.jobs.length);
  state.timer = setTimeout(again, pause());
}

function showList({ title, columns, rows, lines }) {
  document.title = "Advice from event logs";
  const shown = h("div", { class: "stack" });
  const draw = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (candidate) => words.every((word) => candidate.toLowerCase().includes(word));
    const linked = rows.filter(({ cells }) => matches(cells[0])).map(({ id, cells: [name, ...others] }) => [id ? h("a", { href: `#/job/${id}` }, name) : name, ...others]);
    const notes = lines.filter(matches);
    fill(shown, drawn({ kind: "table", title, columns, rows: linked }),
      notes.length ? h("section", { class: "card" }, h("h2", {}, "Notes"), h("ul", {}, notes.map((line) => h("li", {}, line)))) : "");
  };
  draw("");
  fill($("main"),
    h("div", { class: "head" }, h("h1", { style: "font-size:1.5rem" }, "Advice from event logs"), h("input", { type: "search", placeholder: "Query", "aria-label": "Filter queries", oninput: (event) => draw(event.target.value) })),
    shown);
}

const FLEET = [["State", "word", ""], ["Job", "name", ""], ["Executors", "executors", "n"], ["Rows/s", "rate", "n"], ["Latency", "latency_s", "n"], ["Objective", "slo_s", "n"], ["Late today", "late_share", "n"], ["Saved, 7 days", "saved_share", "n"]];
function fleetRows(jobs) {
  const [key, way] = state.sort;
  const rank = (job) => (key === "word" ? RANKS.indexOf(job.word) : job[key]);
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = jobs.filter((job) => words.every((word) => `${job.name} ${job.word} ${job.sentence}`.toLowerCase().includes(word)));
  shown.sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    if (x === y) return a.name.localeCompare(b.name);
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    return (x < y ? -1 : 1) * way;
  });
  return shown.map((job) => h("tr", {},
    h("td", {}, h("span", { class: `word ${tone(job.word)}` }, job.word)),
    h("th", { scope: "row" }, h("a", { href: `#/job/${job.id}` }, job.name), job.word === "Healthy" ? "" : h("div", { class: "small soft" }, job.sentence)),
    h("td", { class: "n" }, `${number(job.executors)}${job.ceiling ? ` of ${job.ceiling}` : ""}`),
    h("td", { class: "n" }, number(job.rate)),
    h("td", { class: "n" }, number(job.latency_s, " s")),
    h("td", { class: "n" }, number(job.slo_s, " s")),
    h("td", { class: "n" }, percent(job.late_share, 2)),
    h("td", { class: "n" }, percent(job.saved_share))));
}

// ---------------------------------------------------------------- one job

function stopJob() {
  state.abort?.abort();
  clearTimeout(state.timer);
  state.charts?.destroy();
  Object.assign(state, { job: null, charts: null, mark: null, range: null, overview: null });
  connected(null);
}

// What is shown is grey while the server does not answer, and states since when.
function connected(is) {
  const light = $("live"), name = is === null ? "" : is ? "on" : "off";
  if (light.className === name) return;
  light.className = name;
  light.textContent = is === null ? "" : is ? "live" : `no connection since ${clock(Date.now() / 1000)}`;
}

async function showJob(job) {
  stopJob();
  state.job = job;
  state.abort = new AbortController();
  let overview;
  try { overview = await source.overview(job); if (state.many === undefined) { const { can, jobs } = await source.jobs(); Object.assign(state, { can, many: jobs.length > 1 }); } } catch (error) { $("main").replaceChildren(failed(error)); return; }
  state.overview = overview;
  state.seconds = frozen ? 0 : 3600;
  state.parts = {
    health: h("section", { class: "card health", "aria-live": "polite" }), figures: h("dl", { class: "figures" }), sections: h("div", { class: "stack" }), more: h("div", { class: "stack" }),
    ranges: h("div", { class: "ranges", role: "group", "aria-label": "Time range" }), charts: h("div", { class: "charts" }), note: h("p", { class: "small soft" }),
    log: h("ol", { class: "log" }), slots: h("section", { class: "card" }), money: h("section", { class: "card money" }), lags: h("details", { class: "card" }), facts: h("details", { class: "card" }),
  };
  const p = state.parts;
  const detailed = h("input", { type: "checkbox", checked: true, onchange: () => refreshSeries() });
  const kept = h("input", { type: "checkbox", checked: state.kept, onchange: (event) => { state.kept = event.target.checked; drawLog(); } });
  state.detailed = detailed;
  $("main").replaceChildren(
    p.health, p.figures, p.sections,
    h("div", { class: "columns" },
      h("section", { class: "card", "aria-label": "Charts" },
        h("div", { class: "head" }, p.ranges, h("label", { class: "small soft" }, detailed, " batch phases")),
        p.charts, p.note),
      h("section", { class: "card" }, h("div", { class: "head" }, h("h2", {}, "Decisions"), h("label", { class: "small soft" }, kept, " why nothing changed")), p.log)),
    h("div", { class: "two" }, p.slots, p.money),
    state.can.whatif ? whatIf() : "",
    p.lags, p.more, p.facts,
    h("footer", {}, frozen ? `Recorded by Rheostat ${frozen.version}; times are those of this computer.` : "Times are those of this computer. Drag in a chart to zoom, double-click to go back; arrow keys move the marked moment."));
  state.charts = new Charts(p.charts, {
    label: "Charts on one time axis; arrow keys move the marked moment, Enter opens its decision",
    onZoom: (from, to) => { state.range = [from, to]; refreshSeries(); }, onReset: () => { state.range = null; refreshSeries(); }, onPick: (t_s) => openMoment(t_s),
  });
  $("control").hidden = !state.can.write;
  drawOverview();
  if (frozen) drawSections();
  await refreshSeries();
  if (!frozen) watch(job, state.abort.signal);
}

function drawOverview() {
  const o = state.overview, p = state.parts, start = o.start || {}, change = o.last_change;
  document.title = `${o.health.word}: ${o.name}`;
  fill($("crumb"), state.many ? [h("a", { href: "#/" }, "All jobs"), " / "] : "", o.name);
  p.health.className = `card health ${tone(o.health.tone || o.health.word)}`;
  fill(p.health, h("h1", {}, o.health.word), h("div", {}, h("p", { class: "sentence" }, o.health.sentence), o.health.action ? h("p", { class: "next" }, h("b", {}, "Next: "), o.health.action) : "", change ? h("p", { class: "next" }, h("b", {}, "Last change: "), `${change.before} → ${executors(change.after)} on ${day(change.t_s)}, ${clock(change.t_s)}${change.guard ? `, by ${change.guard.replaceAll("_", " ")}` : ""}: ${change.reason}`) : ""));
  const late = o.late_share_10min, today = o.week.today.max, week = o.week.week.max;
  const money = (hours) => (hours === null || hours === undefined ? "unknown" : o.price ? fixed(hours * o.price, 2) : `${number(hours)} slot-h`);
  fill(p.figures, o.figures ? o.figures.map((item) => figure(...item)) : [
    figure("Executors", number(o.executors), o.target !== null && o.target !== o.executors ? `target ${o.target}, limits ${start.min_executors}–${start.max_executors}` : `limits ${start.min_executors ?? "?"}–${start.max_executors ?? "?"}${o.slots_per_executor ? `, ${slots(o.slots_per_executor)} each` : ""}`),
    figure("Arrival rate", number(o.input_rows_per_s), "rows/s"),
    figure("Latency", number(o.latency_s, " s"), start.slo_s ? `objective ${number(start.slo_s)} s` : ""),
    figure("Late rows", percent(late ?? today.late_share, 2), late === null ? "today; 1 % allowed" : "last 10 min; 1 % allowed"),
    figure("Backlog", number(o.lag_rows), o.lag_s === null ? "rows" : `rows, oldest waits ${number(o.lag_s, " s")}`),
    figure("Saved, 7 days", percent(week.saved_share), `${week.saved_slot_h === null ? "" : `${money(week.saved_slot_h)} `}against ${executors(start.max_executors)}`)]);
  const share = (saving) => (saving.saved_share === null ? "unknown" : `${money(saving.saved_slot_h)} (${percent(saving.saved_share)})`);
  fill(p.money, h("h2", {}, `Cost${o.price ? `, at ${o.price} per slot-hour` : " in slot-hours"}`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Cost" }, h("table", {}, h("thead", {}, h("tr", {}, h("td"), ["Today", "7 days", "All"].map((name) => h("th", { scope: "col", class: "n" }, name)))),
      h("tbody", {},
        h("tr", {}, h("th", { scope: "row" }, "Paid"), ["today", "week", "all"].map((name) => h("td", { class: "n" }, money(o.week[name].max.slot_h)))),
        h("tr", {}, h("th", { scope: "row" }, `Saved against the ceiling (${start.max_executors ?? "?"})`), ["today", "week", "all"].map((name) => h("td", { class: "n" }, share(o.week[name].max)))),
        h("tr", {}, h("th", { scope: "row" }, `Saved against the size before${o.size_before ? ` (${o.size_before})` : ""}`), ["today", "week", "all"].map((name) => h("td", { class: "n" }, share(o.week[name].before)))),
        h("tr", {}, h("th", { scope: "row" }, "Changes of size"), ["today", "week", "all"].map((name) => h("td", { class: "n" }, o.week[name].max.changes))),
        h("tr", {}, h("th", { scope: "row" }, "Late rows"), ["today", "week", "all"].map((name) => h("td", { class: "n" }, percent(o.week[name].max.late_share, 2))))))));
  const facts = [["State", `${o.state}${o.since_s ? ` since ${day(o.since_s)}, ${clock(o.since_s)}` : ""}`], ["Policy", `${start.policy ?? "unknown"}, ${start.mode ?? "unknown"} mode, a decision every ${start.interval_s ?? "?"} s`],
    ["What binds", o.binding || "nothing"], ["Rescaling", [o.phase, o.detail].filter(Boolean).join(", ") || "no decision yet"], ["Schedule", o.schedule || "none"],
    ["Kafka", start.kafka ? `${start.kafka}: ${o.broker_up === null ? "unknown" : o.broker_up ? "reachable" : "unreachable"}` : "none configured"], ["Journal", o.journal], ["Checkpoints", o.checkpoints.join(", ") || "unknown"], ["Problems", o.problems.join("; ") || "none"]];
  const open = p.facts.open;
  fill(p.facts, h("summary", {}, "Settings and state"), h("dl", { class: "facts" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
  p.facts.open = open;
}
const figure = (name, much, beside) => h("div", {}, h("dt", {}, name), h("dd", { class: "much" }, much), h("dd", { class: "beside" }, beside));
// Replaced only where something changed: a screen reader is not interrupted, and focus stays.
function fill(host, ...children) {
  const fresh = h("div", {}, children);
  if (host.textContent !== fresh.textContent) host.replaceChildren(...fresh.childNodes);
}

function bounds() {
  if (state.range) return state.range;
  const end = state.overview.last_t_s;
  return state.seconds && end ? [end - state.seconds, null] : [null, null];
}

async function refreshSeries() {
  const job = state.job, [from, to] = bounds();
  const points = Math.max(120, Math.min(1200, Math.round(state.parts.charts.clientWidth / 1.4)));
  try {
    const [data, entries] = await Promise.all([source.series(job, from, to, points), source.decisions(job, from, to)]);
    if (job !== state.job) return;
    drawRanges(data.first_s);
    state.entries = entries;
    if (!data.t.length) { state.parts.charts.replaceChildren(h("p", { class: "empty" }, "No records in this time.")); state.charts.shape = null; drawLog(); return; }
    state.data = state.range ? { ...data, from_s: from, to_s: to } : data;
    state.charts.events = entries.filter((entry) => !["kept", "start", "command"].includes(entry.kind));
    state.charts.show(state.data, state.detailed.checked);
    const error = forecastError(data);
    state.parts.note.textContent = error === null ? "" : `The median forecast was off by ${percent(error)} (median of the times shown).`;
    drawLog();
    drawSlots(state.mark ?? state.overview.last_t_s);
  } catch (error) {
    state.parts.charts.replaceChildren(failed(error));
    state.charts.shape = null;
  }
}

function drawRanges(first_s) {
  const known = state.overview.last_t_s - (first_s ?? 0);
  const buttons = RANGES.filter(([, seconds], place) => !seconds || place < 2 || seconds < 1.5 * known);
  fill(state.parts.ranges, frozen ? "" : buttons.map(([name, seconds]) => h("button", { type: "button", "data-seconds": seconds, onclick: () => { state.seconds = seconds; state.range = null; refreshSeries(); } }, name)),
    state.range ? h("button", { type: "button", onclick: () => { state.range = null; refreshSeries(); } }, "Whole range") : "");
  state.parts.ranges.querySelectorAll("[data-seconds]").forEach((button) => button.setAttribute("aria-pressed", String(!state.range && Number(button.dataset.seconds) === state.seconds)));
}

// ---------------------------------------------------------------- decisions

function drawLog() {
  const focused = document.activeElement?.dataset?.key;
  const shown = state.entries.filter((entry) => state.kept || entry.kind !== "kept");
  const items = shown.map((entry) => logItem(entry));
  state.parts.log.replaceChildren(...(items.length ? items : [h("li", { class: "empty" }, "No decisions in this time.")]));
  if (focused) state.parts.log.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  const open = shown.find((entry) => keyOf(entry) === state.open);
  if (open) openEntry(open, true);
}
const keyOf = (entry) => `${entry.kind}-${entry.t_s}`;

function logItem(entry) {
  const key = keyOf(entry);
  const many = state.overview.last_t_s - entry.t_s > 72000;
  return h("li", { class: entry.kind },
    h("button", { type: "button", "data-key": key, "aria-expanded": "false", onclick: () => openEntry(entry) },
      h("time", { datetime: new Date(entry.t_s * 1000).toISOString() }, clock(entry.t_s), many ? ` ${day(entry.t_s)}` : ""),
      h("span", { class: "what" }, heading(entry)), h("span", { class: "why" }, entry.kind === "kept" ? keptReason(entry) : entry.reason)));
}
function heading(entry) {
  if (entry.kind === "kept") return `Kept ${executors(Math.round(entry.after ?? 0) || null)} for ${duration(entry.end_s - entry.t_s)}`;
  if (entry.kind === "start" || entry.kind === "command") return entry.kind === "start" ? "Autoscaler" : "Control";
  if (entry.kind !== "change") return h("span", { class: "stop" }, entry.kind === "halted" ? "Halted" : "Resumed");
  const up = entry.after > entry.before;
  return h("span", {}, h("span", { class: up ? "up" : "down" }, `${up ? "▲" : "▼"} ${entry.before} → ${executors(entry.after)}`), entry.guard ? h("span", { class: "soft small" }, ` by ${entry.guard.replaceAll("_", " ")}`) : "");
}
const keptReason = ({ reasons: [first, ...others] }) => (others.length ? `${percent(first.share)} of the decisions: ${first.reason}` : first.reason);
const otherReasons = (entry) => (entry.reasons || []).slice(1).map(({ reason, share }) => h("p", { class: "soft" }, `${percent(share)} of the decisions: ${reason}`));

async function openEntry(entry, again = false) {
  const button = state.parts.log.querySelector(`[data-key="${CSS.escape(keyOf(entry))}"]`);
  const wasOpen = !again && button.getAttribute("aria-expanded") === "true";
  state.parts.log.querySelectorAll(".detail").forEach((detail) => detail.remove());
  state.parts.log.querySelectorAll("[aria-expanded=true]").forEach((other) => other.setAttribute("aria-expanded", "false"));
  if (wasOpen) { state.open = null; state.mark = null; state.charts.setMark(null); return; }
  state.open = keyOf(entry);
  state.mark = entry.kind === "kept" ? entry.end_s : entry.t_s;
  state.charts.setMark(state.mark);
  button.setAttribute("aria-expanded", "true");
  const detail = h("div", { class: "detail" }, "Loading…");
  button.after(detail);
  try { detail.replaceChildren(...otherReasons(entry), ...momentParts(await source.record(state.job, state.mark))); } catch (error) { detail.replaceChildren(failed(error)); }
  if (!again) drawSlots(state.mark);
}

async function openMoment(t_s) {
  const entry = [...state.entries].sort((a, b) => b.t_s - a.t_s).find((candidate) => candidate.t_s <= t_s);
  if (entry) { state.kept = true; await openEntry(entry); state.parts.log.querySelector("[aria-expanded=true]")?.focus(); }
}

function momentParts(record) {
  if (!record) return [h("p", {}, "There is no record of this moment any more.")];
  const chain = [h("li", {}, h("b", {}, `${record.wanted ?? "–"}`), " wanted by the policy: ", record.reason),
    ...record.guards.map((guard) => h("li", {}, h("b", {}, `${guard.before} → ${guard.after}`), ` by ${guard.guard.replaceAll("_", " ")}: `, guard.reason)),
    h("li", {}, h("b", {}, `${record.target ?? "–"}`), record.guards.length ? " decided" : " decided: no guard changed it")];
  const value = (item) => (typeof item.value !== "number" ? item.value : item.unit === "share" ? percent(item.value, 2) : `${Math.abs(item.value) < 1000 ? Number(item.value.toPrecision(4)) : number(item.value)} ${item.unit}`);
  return [
    h("p", {}, h("b", {}, clock(record.t_s)), ` · ${record.verdict}`), h("ol", { class: "chain" }, chain), h("p", { class: "soft" }, `Observed: ${record.observed}.`),
    record.evidence.length ? h("details", {}, h("summary", {}, `Evidence (${record.evidence.length} numbers)`), h("table", {}, h("tbody", {}, record.evidence.map((item) => h("tr", {}, h("th", { scope: "row" }, item.words), h("td", { class: "n" }, value(item))))))) : "",
    record.actions.length ? h("p", {}, `Also: ${record.actions.join("; ")}`) : "", h("p", { class: "soft" }, `Rescaling: ${record.rescaling}`)].filter(Boolean);
}

// ---------------------------------------------------------------- executors

async function drawSlots(t_s) {
  if (t_s === null || t_s === undefined) return;
  const record = await source.record(state.job, t_s).catch(() => null);
  if (!record || !state.job) return;
  drawLags(record);
  const names = [...new Set([...Object.keys(record.by_executor), ...Object.keys(record.state || {})])].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const running = record.executors ?? names.length, wanted = Math.max(running, record.target ?? 0);
  const tiles = Array.from({ length: Math.min(wanted, 200) }, (_, place) => {
    if (place >= running) return h("li", { class: "off" }, "requested", h("div", { class: "cells", "aria-hidden": "true" }, cells(record.slots, 0)), "not registered yet");
    const name = names[place], sample = record.by_executor[name] || {};
    const facts = [sample.cpu === null || sample.cpu === undefined ? "CPU unknown" : `CPU ${percent(sample.cpu)}`, sample.rows_per_s ? `${number(sample.rows_per_s)} rows/s` : "", sample.lag_rows ? `lag ${number(sample.lag_rows)}` : "", sample.state_bytes ? `state ${number(sample.state_bytes / 1048576)} MiB` : ""];
    return h("li", {}, h("b", {}, name === undefined ? "executor" : `executor ${name}`), h("div", { class: "cells", "aria-hidden": "true" }, cells(record.slots, sample.cpu ?? 0)), facts.filter(Boolean).join(" · "), statePart(record.state?.[name]));
  });
  const state_of = record.state_partitions ? `, ${record.state_partitions} state partitions with ${number((record.state_bytes || 0) / 1048576)} MiB${record.state && Object.keys(record.state).length ? "" : ", whose executors are not recorded"}` : "";
  fill(state.parts.slots, h("div", { class: "head" }, h("h2", {}, "Executors and slots"), h("span", { class: "small soft" }, `${clock(record.t_s)}: ${executors(running)} of ${slots(record.slots)}${state_of}`)), h("ul", { class: "slots" }, tiles));
}
function drawLags(record) {
  const entries = Object.entries(record.lag_by_source || {});
  const rows = entries.map(([name, rows]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "n" }, number(rows))));
  const open = state.parts.lags.open;
  fill(state.parts.lags, h("summary", {}, `Backlog by source and partition at ${clock(record.t_s)}`),
    rows.length ? h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Source or topic/partition"), h("th", { scope: "col", class: "n" }, "Rows"))), h("tbody", {}, rows))
      : h("p", { class: "soft" }, record.lag_rows === 0 ? "No row waits." : "It is not recorded for this moment."));
  state.parts.lags.open = open;
}
// The state partitions of an executor as cells, those that came from another one marked.
function statePart(held) {
  if (!held) return "";
  const moves = Object.entries(held.received).map(([partition, sender]) => `${partition} from ${sender}`);
  const count = held.partitions.length;
  return [h("div", { class: "cells state", "aria-hidden": "true" }, held.partitions.map((partition) => h("i", { class: partition in held.received ? "moved" : "", title: partition }))),
    `${count} state partition${count === 1 ? "" : "s"}${moves.length ? `; received in the last ten minutes: ${moves.slice(0, 12).join(", ")}${moves.length > 12 ? `, and ${moves.length - 12} more` : ""}` : ""}`];
}
const cells = (slots, cpu) => Array.from({ length: Math.min(slots || 1, 16) }, () => h("i", { style: `--full: ${Math.round(100 * Math.min(1, cpu))}%` }));

// ---------------------------------------------------------------- what if

function whatIf() {
  const start = state.overview.start || {};
  const input = (label, name, value, more = {}) => h("label", {}, label, h("input", { name, value, type: "number", step: "any", required: true, ...more }));
  const answer = h("div", { "aria-live": "polite" });
  const policies = (state.can.policies || ["predictive"]).map((name) => h("option", { selected: name === start.policy }, name));
  const form = h("form", { class: "form", onsubmit: async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    answer.replaceChildren(h("p", { class: "soft" }, "Fitting a simulated job to the recording; this takes up to a minute…"));
    try { answer.replaceChildren(...whatIfAnswer(await ask("api/whatif", { job: state.job }, { method: "POST", body: JSON.stringify(values) }))); } catch (error) { answer.replaceChildren(failed(error)); }
  } }, h("label", {}, "Policy", h("select", { name: "policy" }, policies)), input("Objective, s", "slo", start.slo_s ?? 10, { min: 0.1 }), input("Floor", "min", start.min_executors ?? 1, { min: 1, step: 1 }), input("Ceiling", "max", start.max_executors ?? 8, { min: 1, step: 1 }), h("button", { class: "main" }, "What if?"));
  return h("section", { class: "card stack", style: "gap:.6rem" }, h("h2", {}, "What if, on what was recorded"), form, answer);
}
function whatIfAnswer(answer) {
  const runs = [["recorded", answer.recorded], ["the same sizes, simulated", answer.simulated_as_recorded], [`${answer.policy}, simulated`, answer.simulated_with_policy]];
  const rows = [["Slot-hours", (run) => number(run.slot_hours)], ["Late rows", (run) => percent(run.late_share, 2)], ["Latency, 99 %", (run) => number(run.latency_p99_s, " s")], ["Executors, mean", (run) => number(run.executors_mean)], ["Rescalings", (run) => run.rescalings], ["Objective met", (run) => (run.attained ? "yes" : "no")]];
  return [h("p", { class: `notice ${answer.saved_share === null ? "bad" : "good"}` }, h("b", {}, answer.verdict)),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answer" }, h("table", {}, h("thead", {}, h("tr", {}, h("td"), runs.map(([name]) => h("th", { scope: "col", class: "n" }, name)))), h("tbody", {}, rows.map(([name, cell]) => h("tr", {}, h("th", { scope: "row" }, name), runs.map(([, run]) => h("td", { class: "n" }, cell(run)))))))),
    ...answer.errors.map((text) => h("p", { class: "small soft" }, text))];
}

// ---------------------------------------------------------------- sections of a recorded run

function drawSections() {
  for (const section of pageOf(state.job).sections) (section.open === false ? state.parts.more : state.parts.sections).append(drawn(section));
}
function drawn(section) {
  if (section.kind === "notice") return h("p", { class: `notice ${section.tone}` }, h("b", {}, section.title), " ", section.text);
  const rows = section.rows || [];
  const table = section.kind === "table" ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": section.title }, h("table", {}, h("thead", {}, h("tr", {}, section.columns.map((name, place) => h("th", { scope: "col", class: place ? "n" : "" }, name)))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => h(place ? "td" : "th", place ? { class: "n" } : { scope: "row" }, cell))))))) : h("dl", { class: "facts" }, rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  return section.open === false ? h("details", { class: "card" }, h("summary", {}, section.title), table, section.text ? h("p", { class: "small soft" }, section.text) : "") : h("section", { class: "card" }, h("h2", {}, section.title), table, section.text ? h("p", { class: "small soft" }, section.text) : "");
}

// ---------------------------------------------------------------- live updates

async function watch(job, signal) {
  for (let wait_s = 1; !signal.aborted; wait_s = Math.min(30, 2 * wait_s)) {
    try {
      const answer = await fetch(`api/events?job=${encodeURIComponent(job)}`, { headers: headers(), signal });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      connected(true); wait_s = 0.5;
      for (let rest = ""; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        const data = blocks.map((block) => block.split("\n").filter((text) => text.startsWith("data: ")).map((text) => text.slice(6)).join("")).filter(Boolean).pop();
        if (data) updated(JSON.parse(data));
      }
    } catch (error) {
      if (signal.aborted) return;
      connected(false);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000 * wait_s));
  }
}

let updatedAt = 0;
function updated(overview) {
  state.overview = overview;
  drawOverview();
  const pause = Math.max(2000, (state.seconds || 86400) * 2); // a point of the chart
  if (state.range || document.hidden || Date.now() - updatedAt < pause) return;
  updatedAt = Date.now();
  refreshSeries();
}

// ---------------------------------------------------------------- control

function openControl(message = "") {
  const start = state.overview?.start || {};
  const answer = h("p", { role: "status", class: "small soft" }, message);
  const field = (label, name, more) => h("label", {}, label, h("input", { name, ...more }));
  const token = h("input", { type: "password", autocomplete: "off", value: memory.get("token") || "", oninput: (event) => memory.set("token", event.target.value) });
  const author = h("input", { value: memory.get("author") || "", autocomplete: "name", oninput: (event) => memory.set("author", event.target.value) });
  const send = async (path, body) => {
    answer.textContent = "Sending…";
    try {
      await ask(path, {}, { method: "PUT", body: JSON.stringify(body), headers: { "X-Rheostat-Author": encodeURIComponent(memory.get("author") || "") } });
      answer.textContent = "Done; the next decision follows at once.";
    } catch (error) { answer.textContent = error.message; }
  };
  const act = (label, path, body) => h("button", { type: "button", onclick: () => send(path, body()) }, label);
  const values = (form) => Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, Number(value)]));
  const group = (title, path, label, ...fields) => { const form = h("form", { class: "form", onsubmit: (event) => { event.preventDefault(); send(path, values(form)); } }, ...fields, h("button", {}, label)); return h("fieldset", {}, h("legend", {}, title), form); };
  const dialog = h("dialog", { "aria-label": "Control", onclose: () => dialog.remove() },
    h("div", { class: "head" }, h("h2", {}, "Control"), h("button", { type: "button", onclick: () => { dialog.close(); route(); } }, "Close")),
    h("div", { class: "form" }, h("label", {}, "Token", token), h("label", {}, "Your name, for the journal", author)),
    state.can.write ? [
      h("fieldset", {}, h("legend", {}, "Decisions"), h("div", { class: "form" }, act("Pause", "halt", () => ({})), act("Resume", "resume", () => ({})))),
      group("Pin the size", "pin", "Pin", field("Executors", "executors", { type: "number", min: 1, value: state.overview?.executors ?? 1, required: true }), field("Minutes", "minutes", { type: "number", min: 1, max: 1440, value: 60, required: true })),
      group("Limits", "limits", "Change", field("Floor", "min", { type: "number", min: 1, value: start.min_executors ?? 1, required: true }), field("Ceiling", "max", { type: "number", min: 1, value: start.max_executors ?? 8, required: true })),
      group("Objective", "objective", "Change", field("Latency, s", "slo_s", { type: "number", min: 0.1, step: "any", value: start.slo_s ?? 10, required: true })),
    ] : "",
    answer);
  document.body.append(dialog);
  dialog.showModal();
}

// ---------------------------------------------------------------- begin

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  if (state.charts?.plots.length) state.charts.build();
}
function route() {
  const job = location.hash.match(/^#\/job\/(.+)$/);
  if (job) showJob(decodeURIComponent(job[1])); else showFleet();
}
setTheme(memory.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").addEventListener("click", () => { const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark"; memory.set("theme", next); setTheme(next); });
$("control").addEventListener("click", () => openControl());
addEventListener("hashchange", route);
route();
