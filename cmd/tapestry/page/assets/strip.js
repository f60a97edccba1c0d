// Time as a film strip: small pictures of the drawing at some steps, coloured by the size of
// the gradients on one scale, and marks where something happens.
import * as api from "./api.js";
import { boxOf } from "./box.js";
import { byID, fill, h } from "./element.js";
import { count, number } from "./quantity.js";

const width = 100; // pixels that a picture takes, with its gap
const pause = 400; // ms without more steps, after which pictures are made

/** Strip is above the slider of training steps. */
export class Strip {
  #workspace;
  #drawing;
  #host = byID("strip");
  #timer = 0;
  #moments = new Map(); // by step
  #terms = new Map(); // by step
  #key = "";
  #arrangement = 0; // of the drawing in the pictures
  #control = null;

  constructor(workspace, drawing) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    for (const type of ["doc", "history", "compare"]) workspace.addEventListener(type, () => this.#later());
    workspace.addEventListener("drawn", () => this.#drawing.main.arrangement !== this.#arrangement && this.#later());
    workspace.addEventListener("shown", () => this.#point());
    addEventListener("resize", () => this.#later());
    addEventListener("themechange", () => this.#draw());
  }

  /** later makes the pictures soon; their place is taken at once, so that the drawing keeps its size. */
  #later() {
    const w = this.#workspace;
    this.#host.hidden = !w.doc || w.last === 0 || w.doc.trains === false || w.view.firing !== null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load().catch((e) => e.name !== "AbortError" && this.#workspace.fail(e)), pause);
  }

  /** steps are those of the pictures: as many as there is room for, from the first to the last. */
  #steps() {
    const { last } = this.#workspace;
    const room = Math.max(2, Math.min(16, Math.floor(this.#host.parentElement.clientWidth / width)));
    const n = Math.min(room, last + 1);
    return [...new Set(Array.from({ length: n }, (_, i) => Math.round((i * last) / Math.max(1, n - 1))))];
  }

  /** load makes the pictures one after the other; what is no longer wanted stops. */
  async #load() {
    const w = this.#workspace;
    this.#control?.abort();
    const { doc } = w;
    if (this.#host.hidden) return;
    const key = [doc.id, w.view.level].join();
    if (key !== this.#key) {
      this.#key = key;
      this.#moments.clear();
      this.#terms.clear();
    }
    const control = (this.#control = new AbortController());
    const { fed, loss } = await api.history(doc.id, control.signal);
    this.#fed = fed;
    this.#loss = loss;
    this.#draw();
    const clusterings = w.together.length > 1 && w.together.every((d) => d.plane);
    for (const step of this.#steps()) {
      const known = this.#moments.has(step) && (!clusterings || this.#terms.has(step));
      if (!this.#moments.has(step)) this.#moments.set(step, await api.moment(doc.id, step, w.view.level, control.signal));
      if (clusterings && !this.#terms.has(step)) this.#terms.set(step, await api.terms(doc.id, step, control.signal).catch(() => null));
      if (control.signal.aborted) return;
      if (!known) this.#draw();
    }
  }

  #fed = [];
  #loss = [];

  #draw() {
    if (this.#host.hidden) return;
    this.#arrangement = this.#drawing.main?.arrangement ?? 0;
    const steps = this.#steps();
    const sizes = steps.flatMap((s) => Object.values(this.#moments.get(s)?.sizes ?? {})).filter((v) => typeof v === "number" && v > 0).map(Math.log10);
    const range = [Math.min(...sizes), Math.max(...sizes)];
    const marks = this.#marks(steps);
    const scale = sizes.length ? `largest |∂loss/∂v|, one scale for all steps: ${number(10 ** range[0])} to ${number(10 ** range[1])}` : "";
    this.#host.title = scale;
    fill(this.#host,
      h("div", { class: "frames", role: "group", "aria-label": "Moments" }, steps.map((step) => h("button", { type: "button", class: marks.some((m) => m.at === step) ? "frame marked" : "frame", "data-step": step, onclick: () => this.#workspace.goTo(step), "aria-label": `Step ${step}` },
        this.#picture(this.#moments.get(step), range), h("span", { class: "frame-step" }, count(step))))),
      marks.length > 0 && h("p", { class: "note events" }, marks.map((m) => h("button", { type: "button", class: "link", "data-step": m.step, onclick: () => this.#workspace.goTo(m.step) }, `${count(m.step)}: ${m.text}`))));
    this.#point();
  }

  /** picture is the drawing in small, each box as dark as its gradient is large. */
  #picture(moment, [low, high]) {
    const sheet = this.#drawing.main?.sheet;
    const canvas = h("canvas", { width: 2 * 86, height: 72, "aria-hidden": "true" });
    if (!sheet || !moment) return canvas;
    const context = canvas.getContext("2d");
    const items = sheet.items.filter((it) => it.kind === "node" && it.panel !== 2);
    const boxes = items.map(boxOf);
    const left = Math.min(...boxes.map((b) => b.x));
    const top = Math.min(...boxes.map((b) => b.y));
    const across = Math.max(...boxes.map((b) => b.x + b.w)) - left;
    const down = Math.max(...boxes.map((b) => b.y + b.h)) - top;
    const k = Math.min(canvas.width / across, canvas.height / down);
    context.translate((canvas.width - k * across) / 2 - k * left, (canvas.height - k * down) / 2 - k * top);
    context.scale(k, k);
    const style = getComputedStyle(document.documentElement);
    const [ink, line, alarm] = ["--accent", "--rule", "--alarm"].map((name) => style.getPropertyValue(name));
    for (const it of items) {
      const v = moment.sizes[it.loop ?? it.node ?? it.id];
      context.globalAlpha = 1;
      context.strokeStyle = line;
      context.lineWidth = 1 / k;
      const { x, y, w, h: tall } = boxOf(it);
      if (v !== undefined) {
        canvas.dataset.boxes = +(canvas.dataset.boxes ?? 0) + 1;
        context.fillStyle = typeof v === "number" ? ink : alarm;
        const share = typeof v !== "number" ? 1 : v <= 0 ? 0 : high > low ? (Math.log10(v) - low) / (high - low) : 1;
        context.globalAlpha = v === 0 ? 0 : 0.12 + 0.88 * share;
        context.fillRect(x, y, w, tall);
        context.globalAlpha = 1;
      }
      context.strokeRect(x, y, w, tall);
    }
    return canvas;
  }

  /** marks lists what happens, each {step, at: the picture it is written on, text}. */
  #marks(steps) {
    const found = [];
    const { doc, last } = this.#workspace;
    const fed = this.#fed.filter((f) => f.name !== doc.schedule?.name); // the rate does not change the objective
    for (const { name, values } of fed) {
      const step = values.findIndex((v, i) => i > 0 && i <= last && (values[i - 1] < 1) !== (v < 1));
      if (step > 0) found.push({ step, text: `${name.slice(name.lastIndexOf("/") + 1)} passes 1` });
    }
    if (!fed.length) {
      let least = Infinity;
      const rises = this.#loss.findIndex((v) => {
        const up = typeof v === "number" && least > 0 && v > 2 * least;
        least = Math.min(least, typeof v === "number" ? v : Infinity);
        return up;
      });
      if (rises > 0 && rises <= last) found.push({ step: rises, text: "the loss has doubled" });
    }
    const dead = steps.find((s) => this.#moments.get(s)?.dead.length);
    if (dead !== undefined) {
      const d = this.#moments.get(dead).dead[0];
      found.push({ step: dead, text: `${d.units} of ${d.of} units of ${d.label} are dead` });
    }
    const opposed = steps.find((s) => this.#terms.get(s)?.angle > 90);
    if (opposed !== undefined) found.push({ step: opposed, text: `the gradients of soft and goofy oppose: ${number(Math.round(this.#terms.get(opposed).angle))}°` });
    const near = (step) => steps.reduce((best, s) => (Math.abs(s - step) < Math.abs(best - step) ? s : best), steps[0]);
    return found.sort((a, b) => a.step - b.step).map((m) => ({ ...m, at: near(m.step) }));
  }

  /** point shows which picture is nearest to the step that is shown. */
  #point() {
    const { step } = this.#workspace;
    const frames = [...this.#host.querySelectorAll(".frame")];
    const nearest = frames.reduce((best, f) => (!best || Math.abs(f.dataset.step - step) < Math.abs(best.dataset.step - step) ? f : best), null);
    for (const f of frames) f.toggleAttribute("aria-current", f === nearest);
  }
}
