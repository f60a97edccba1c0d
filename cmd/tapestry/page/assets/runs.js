// Runs: trainings that logs tell of, followed while they go on. The server reads the
// files; here they are asked for again and again while they can be seen.
import * as api from "./api.js";
import { byID, fill, h, markup } from "./element.js";
import { count, number } from "./quantity.js";
import { stepAt } from "./training.js";

const often = 1000; // ms between two questions while something goes on
const seldom = 5000; // when nothing does, or the server does not answer
const silence = 60000; // ms without a line, after which that is said

const columns = ["Run", "State", "Step", "Epoch", "Loss", "Rate", "Steps/s", "Left", "Measured"];
const usual = { smooth: 90, log: false, logx: false, hide: [], order: "", find: "" };
const mostRows = 100; // of the table
const mostDrawn = 24; // runs in a chart, the first of the table

/** Runs is the part of the page that shows trainings over each other. */
export class Runs {
  #tell;
  #fail;
  #rows = new Map(); // by the run's id
  #states = new Map();
  #frames = new Map(); // by the chart's kind
  #charts;
  #kinds = [];
  #version = -1;
  #timer = 0;
  #broken = false;

  #look = { ...usual };
  #list_ = []; // the runs as they were told last
  #shows = ""; // what drawn was when the charts were asked for
  #drawn = ""; // the ids of the runs in the charts; "" for all that are not hidden
  #values;
  #names = ""; // of the settings that are columns, a line each
  #left = 0; // logs that are not followed
  #tip = h("div", { id: "runs-tip", class: "floating", role: "status", hidden: true });

  /** changed is called when another part of the runs is looked at; opened with the answer when a run's model is opened. */
  changed = () => {};
  opened = async () => {};

  constructor(tell, fail) {
    this.#tell = tell;
    this.#fail = fail;
    this.#charts = new api.Latest(fail);
    this.#values = new api.Latest(() => this.#leave());
    const smooth = byID("runs-smooth");
    smooth.addEventListener("input", () => this.look({ smooth: +smooth.value }));
    byID("runs-log").addEventListener("change", (e) => this.look({ log: e.target.checked }));
    byID("runs-logx").addEventListener("change", (e) => this.look({ logx: e.target.checked }));
    byID("runs").append(this.#tip);
    byID("runs-charts").addEventListener("pointermove", (e) => this.#point(e));
    byID("runs-charts").addEventListener("pointerleave", () => this.#leave());
    byID("runs-find").addEventListener("input", (e) => this.look({ find: e.target.value }));
    byID("runs-tab").addEventListener("click", () => this.show(!this.shown));
    document.addEventListener("visibilitychange", () => this.#follow());
    this.#head([]);
  }

  /** state is what of the runs is shown, for a link; null where the models are. */
  get state() {
    return this.shown ? { ...this.#look } : null;
  }

  /** look changes how the runs are looked at. */
  look(change) {
    Object.assign(this.#look, change);
    const { smooth, log, logx, find } = this.#look;
    if (byID("runs-find").value !== find) byID("runs-find").value = find;
    byID("runs-smooth").value = smooth;
    byID("runs-smooth-shown").textContent = (smooth / 100).toFixed(2);
    byID("runs-log").checked = log;
    byID("runs-logx").checked = logx;
    this.#table();
    this.#draw();
    this.changed();
  }

  /** restore shows what a link says. */
  restore(state) {
    this.look({ ...usual, ...state });
    this.show(true);
  }

  #head(names) {
    const sorted = (key) => (this.#look.order === key ? "ascending" : this.#look.order === "-" + key ? "descending" : null);
    const head = (text, key) => h("th", { scope: "col", "aria-sort": key && sorted(key) }, key ? h("button", { type: "button", class: "link", onclick: () => this.look({ order: this.#look.order === key ? "-" + key : key }) }, text) : text);
    fill(byID("runs-head"), columns.map((c) => head(c, { Loss: "loss", Step: "step", Run: "name" }[c])), names.map((n) => head(n.replace(/^set /, ""), "set:" + n)), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Model")));
  }

  /** sorted are the runs that are searched for: by final loss as soon as all have ended, unless the reader chose another order. */
  #sorted() {
    const words = this.#look.find.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (r) => [r.name, ...Object.entries(r.settings ?? {}).map(([name, value]) => `${name.replace(/^set /, "")}=${value}`)].join(" ").toLowerCase();
    const found = words.length ? this.#list_.filter((r) => words.every((w) => text(r).includes(w))) : [...this.#list_];
    const ended = this.#list_.length > 1 && this.#list_.every((r) => ["ended", "failed", "interrupted"].includes(r.state));
    const order = this.#look.order || (ended ? "loss" : "");
    if (!order) return found;
    const [way, key] = order.startsWith("-") ? [-1, order.slice(1)] : [1, order];
    const value = (r) => (key.startsWith("set:") ? r.settings?.[key.slice(4)] ?? "" : r[key]);
    const last = Symbol("last");
    const rank = (v) => (key === "name" || key.startsWith("set:") ? v : typeof v === "number" ? v : last);
    const compare = (a, b) => {
      const [x, y] = [rank(value(a)), rank(value(b))];
      if (x === last || y === last) return (x === last) - (y === last); // what is no number comes last
      const [p, q] = [Number(x), Number(y)];
      return way * (x !== "" && y !== "" && Number.isFinite(p) && Number.isFinite(q) ? p - q : String(x).localeCompare(String(y)));
    };
    return found.sort(compare);
  }

  /** table shows the rows of the runs that are searched for, and says how many others there are. */
  #table() {
    const names = this.#names ? this.#names.split("\n") : [];
    const [found, table] = [this.#sorted(), byID("runs-rows")];
    const shown = found.slice(0, mostRows);
    const rows = shown.map((r) => this.#fill(r, names));
    for (const row of [...table.children]) if (!rows.includes(row)) row.remove();
    if (rows.some((row, i) => table.children[i] !== row)) table.append(...rows);
    const open = found.filter((r) => !this.#look.hide.includes(r.id));
    const drawn = open.slice(0, mostDrawn);
    for (const r of shown) {
      const { box } = this.#rows.get(r.id);
      box.checked = drawn.includes(r);
      box.disabled = !box.checked && open.includes(r);
    }
    this.#drawn = drawn.length < open.length || found.length < this.#list_.length ? drawn.map((r) => r.id).join() || "none" : "";
    byID("runs-finding").hidden = this.#list_.length <= 8;
    byID("runs").classList.toggle("many", rows.length > 12);
    const said = [
      found.length < this.#list_.length && `${count(found.length)} of ${count(this.#list_.length)} runs are found.`,
      shown.length < found.length && `The table has the first ${mostRows}.`,
      drawn.length < open.length && `The charts have the first ${mostDrawn} that are ticked.`,
      this.#left > 0 && `${count(this.#left)} more logs are too many to follow.`,
    ].filter(Boolean).join(" ");
    if (byID("runs-found").textContent !== said) byID("runs-found").textContent = said;
  }

  /** differing are the names of settings that not all runs have alike. */
  #differing(runs) {
    const known = runs.filter((r) => r.settings);
    const names = new Set(known.flatMap((r) => Object.keys(r.settings)));
    return [...names].filter((n) => known.some((r) => r.settings[n] !== known[0].settings[n]));
  }

  /** point shows what all runs have at the step under the pointer. */
  #point(e) {
    const svg = e.target.closest("svg.chart");
    const kind = svg && [...this.#frames].find(([, frame]) => frame.contains(svg))?.[0];
    const step = svg && stepAt(svg, e.clientX, this.#look.logx);
    if (!kind || step === null || step === undefined) {
      this.#leave();
      return;
    }
    const { clientX, clientY } = e;
    this.#values.run((signal) => api.runsAt({ kind, step, smooth: String(this.#look.smooth), ...this.#asked() }, signal), ({ runs }) => {
      this.#tip.hidden = runs.length === 0;
      fill(this.#tip, h("b", {}, `step ${count(step)}`), h("dl", {}, runs.map((r) => h("div", {}, h("dt", {}, r.name), h("dd", {}, number(r.smoothed) + (r.smoothed !== r.value ? ` (logged ${number(r.value)})` : "") + (r.step !== step ? `, step ${count(r.step)}` : ""))))));
      this.#tip.style.left = Math.max(8, Math.min(innerWidth - this.#tip.offsetWidth - 8, clientX + 14)) + "px";
      this.#tip.style.top = Math.max(8, Math.min(innerHeight - this.#tip.offsetHeight - 8, clientY + 14)) + "px";
    });
  }

  /** asked says which runs a chart has. */
  #asked() {
    return this.#drawn ? { only: this.#drawn } : { hide: this.#look.hide.join(",") };
  }

  #leave() {
    this.#values.stop();
    this.#tip.hidden = true;
  }

  /** open opens the model of a run. */
  async #open(r) {
    byID("run-opened").hidden = true; // which is about another
    try {
      await this.opened(await api.openRun(r.id), r);
    } catch (e) {
      this.#fail(e);
    }
  }

  get shown() {
    return document.body.dataset.view === "runs";
  }

  /** begin finds out whether there are runs; alone says that nothing else is open. */
  async begin(alone) {
    const now = await api.runs();
    byID("runs-tab").hidden = now.runs.length === 0;
    if (now.runs.length > 0 && alone) this.show(true);
  }

  /** show turns to the runs, or back to the models. */
  show(on) {
    if (byID("runs-tab").hidden) return;
    document.body.dataset.view = on ? "runs" : "models";
    byID("runs").hidden = !on;
    byID("runs-tab").setAttribute("aria-pressed", String(on));
    this.#leave();
    this.#follow();
    this.changed();
  }

  #follow() {
    clearTimeout(this.#timer);
    if (this.shown && !document.hidden) this.#ask();
  }

  async #ask() {
    let wait = seldom;
    try {
      const now = await api.runs();
      if (now.runs.some((r) => ["waiting", "reading", "running"].includes(r.state))) wait = often;
      if (now.runs.some((r) => r.state === "reading")) wait = 0;
      this.#broken = false;
      this.#list(now);
      if (now.version !== this.#version || this.#drawn !== this.#shows) {
        this.#version = now.version;
        this.#kinds = now.charts;
        this.#draw();
      }
    } catch (e) {
      if (!this.#broken) this.#fail(e); // once, not at every question
      this.#broken = true;
    }
    clearTimeout(this.#timer);
    if (this.shown && !document.hidden) this.#timer = setTimeout(() => this.#ask(), wait);
  }

  #list({ runs, left }) {
    this.#list_ = runs;
    this.#left = left ?? 0;
    const names = this.#differing(runs);
    this.#names = names.join("\n");
    for (const r of runs) {
      const before = this.#states.get(r.id);
      if (before && before !== r.state && runs.length <= mostDrawn) this.#tell(`${r.name}: ${says(r)}`);
      this.#states.set(r.id, r.state);
    }
    this.#head(names);
    this.#table();
    const wrong = runs.filter((r) => r.wrong);
    byID("runs-problems").hidden = wrong.length === 0;
    const told = JSON.stringify(wrong.map((r) => [r.id, r.wrong]));
    if (this.told !== told) {
      this.told = told;
      fill(byID("runs-problems"), wrong.map((r) => h("details", {}, h("summary", {}, `${r.name}: ${r.wrong === 1 ? "a line" : count(r.wrong) + " lines"} could not be read`),
        h("ul", {}, r.problems.map((p) => h("li", {}, `line ${p.line}: ${p.message}`)), r.wrong > r.problems.length && h("li", {}, `and ${count(r.wrong - r.problems.length)} more`)))));
    }
  }

  /** fill writes what a run is into its row, and returns it. */
  #fill(r, names) {
    if (!this.#rows.has(r.id)) this.#addRow(r);
    const row = this.#rows.get(r.id);
    row.settings(r, names);
    const begun = r.state !== "waiting" && r.state !== "unreadable";
    const cells = [
      says(r),
      begun ? count(r.step) + (r.steps ? " of " + count(r.steps) : "") : "–",
      begun ? r.epoch + (r.epochs ? " of " + r.epochs : "") : "–",
      ...[r.loss, r.rate, r.pace].map((v) => (v === "NaN" && r.state !== "failed" ? "–" : number(v))),
      r.left ? time(r.left) : "–",
      r.scores.map((s) => `${s.name} ${number(s.value)}`).join(", ") || "–",
    ];
    cells.forEach((text, i) => {
      if (row.cells[i].textContent !== text) row.cells[i].textContent = text;
    });
    row.cells[0].classList.toggle("wrong", r.state === "failed" || r.state === "unreadable");
    return row.row;
  }

  #addRow(r) {
    const box = h("input", { type: "checkbox", checked: !this.#look.hide.includes(r.id), onchange: () => this.look({ hide: box.checked ? this.#look.hide.filter((id) => id !== r.id) : [...this.#look.hide, r.id] }) });
    const cells = columns.slice(1).map(() => h("td", {}));
    const open = h("td", {}, h("button", { type: "button", class: "link", "data-run": r.id, onclick: () => this.#open(r), "aria-label": "Open the model of " + r.name }, "Open model"));
    const called = h("span", {}, r.name);
    const row = h("tr", {}, h("th", { scope: "row" }, h("label", { class: "check" }, box, called)), cells, open);
    let told = "";
    const settings = (run, names) => {
      const now = JSON.stringify([run.name, names, run.settings]);
      if (now === told) return;
      told = now;
      called.textContent = run.name;
      for (const td of row.querySelectorAll("[data-setting]")) td.remove();
      open.before(...names.map((n) => h("td", { "data-setting": n }, run?.settings ? listed(run.settings[n] ?? "usual") : "–")));
      open.firstChild.disabled = !run?.settings;
      open.firstChild.title = run?.settings ? "" : "The log does not say of which model it is";
    };
    this.#rows.set(r.id, { box, cells, row, settings });
  }

  #draw() {
    const { smooth, log, logx } = this.#look;
    const look = { smooth: String(smooth), log, logx, ...this.#asked() };
    this.#shows = this.#drawn;
    fill(byID("runs-still"), this.#kinds.filter((c) => c.still).map((c) => h("p", { class: "note" }, `${c.title}: ${c.still}.`)));
    const kinds = this.#kinds.filter((c) => !c.still).map((c) => c.kind);
    this.#charts.run((signal) => Promise.all(kinds.map((kind) => api.runsChart({ kind, ...look }, signal))), (charts) => {
      for (const [kind, frame] of this.#frames) {
        if (!kinds.includes(kind)) {
          frame.remove();
          this.#frames.delete(kind);
        }
      }
      charts.forEach((svg, i) => {
        if (!this.#frames.has(kinds[i])) this.#frames.set(kinds[i], h("div", { class: "chart-frame" }));
        const frame = this.#frames.get(kinds[i]);
        fill(frame, markup(svg));
        if (byID("runs-charts").children[i] !== frame) byID("runs-charts").insertBefore(frame, byID("runs-charts").children[i] ?? null);
      });
      byID("runs-none").hidden = charts.length > 0;
    });
  }
}

/** says is how a run stands, in words. */
function says(r) {
  const gone = r.trouble ? ` (${r.trouble})` : "";
  switch (r.state) {
    case "waiting": return "waiting for the file";
    case "reading": return "being read";
    case "unreadable": return "cannot be read" + gone;
    case "failed": return "stopped: " + r.failure + gone;
    case "ended": return (r.settings?.patience > 0 && r.step < r.steps ? "ended by patience" : "ended") + gone;
    case "interrupted": return "interrupted" + gone;
  }
  const quiet = Date.now() - r.changed;
  return (quiet > silence ? `nothing new for ${time(quiet / 1000)}` : "running") + gone;
}

/** listed is a setting as it is read: of several parts, as a log has them in brackets, one after the other. */
function listed(value) {
  if (!/^\[.*\]$/.test(value)) return value;
  return [...value.slice(1, -1).matchAll(/"((?:[^"]|"")*)"|[^,]+/g)].map(([part, quoted]) => quoted?.replace(/""/g, '"') ?? part).join("; ");
}

/** time writes seconds as 0:04, 12:30 or 1:02:03. */
function time(seconds) {
  const s = Math.round(seconds);
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600);
  return hours ? `${hours}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}
