// Runs: trainings that logs tell of, followed while they go on. The server reads the
// files; here they are asked for again and again while they can be seen.
import * as api from "./api.js";
import { byID, fill, h, markup } from "./element.js";
import { count, number } from "./quantity.js";

const often = 1000; // ms between two questions while something goes on
const seldom = 5000; // when nothing does, or the server does not answer
const silence = 60000; // ms without a line, after which that is said

const columns = ["Run", "State", "Step", "Epoch", "Loss", "Rate", "Steps/s", "Left", "Measured"];

/** Runs is the part of the page that shows trainings over each other. */
export class Runs {
  #tell;
  #fail;
  #rows = new Map(); // by the run's id
  #frames = new Map(); // by the chart's kind
  #charts;
  #kinds = [];
  #version = -1;
  #timer = 0;
  #broken = false;

  constructor(tell, fail) {
    this.#tell = tell;
    this.#fail = fail;
    this.#charts = new api.Latest(fail);
    const smooth = byID("runs-smooth");
    smooth.addEventListener("input", () => {
      byID("runs-smooth-shown").textContent = (smooth.value / 100).toFixed(2);
      this.#draw();
    });
    byID("runs-log").addEventListener("change", () => this.#draw());
    byID("runs-tab").addEventListener("click", () => this.show(!this.shown));
    document.addEventListener("visibilitychange", () => this.#follow());
    fill(byID("runs-head"), columns.map((c) => h("th", { scope: "col" }, c)));
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
    this.#follow();
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
      this.#list(now.runs);
      if (now.version !== this.#version) {
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

  #list(runs) {
    for (const r of runs) {
      if (!this.#rows.has(r.id)) this.#addRow(r);
      const row = this.#rows.get(r.id);
      const state = says(r);
      if (row.state && row.state !== r.state) this.#tell(`${r.name}: ${state}`);
      row.state = r.state;
      const begun = r.state !== "waiting" && r.state !== "unreadable";
      const cells = [
        state,
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
    }
    const wrong = runs.filter((r) => r.wrong);
    byID("runs-problems").hidden = wrong.length === 0;
    const told = JSON.stringify(wrong.map((r) => [r.id, r.wrong]));
    if (this.told !== told) {
      this.told = told;
      fill(byID("runs-problems"), wrong.map((r) => h("details", {}, h("summary", {}, `${r.name}: ${r.wrong === 1 ? "a line" : count(r.wrong) + " lines"} could not be read`),
        h("ul", {}, r.problems.map((p) => h("li", {}, `line ${p.line}: ${p.message}`)), r.wrong > r.problems.length && h("li", {}, `and ${count(r.wrong - r.problems.length)} more`)))));
    }
  }

  #addRow(r) {
    const box = h("input", { type: "checkbox", checked: true, onchange: () => this.#draw() });
    const cells = columns.slice(1).map(() => h("td", {}));
    this.#rows.set(r.id, { box, cells, state: "" });
    byID("runs-rows").append(h("tr", {}, h("th", { scope: "row" }, h("label", { class: "check" }, box, r.name)), cells));
  }

  #draw() {
    const hide = [...this.#rows].filter(([, row]) => !row.box.checked).map(([id]) => id).join(",");
    const look = { smooth: byID("runs-smooth").value, log: byID("runs-log").checked, hide };
    const kinds = this.#kinds.map((c) => c.kind);
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
    case "ended": return "ended" + gone;
    case "interrupted": return "interrupted" + gone;
  }
  const quiet = Date.now() - r.changed;
  return (quiet > silence ? `nothing new for ${time(quiet / 1000)}` : "running") + gone;
}

/** time writes seconds as 0:04, 12:30 or 1:02:03. */
function time(seconds) {
  const s = Math.round(seconds);
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600);
  return hours ? `${hours}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}
