// Training: more steps, and a slider through those that were made. Everything on
// the page shows the step that the slider is at.
import * as api from "./api.js";
import { place } from "./chart.js";
import { byID, calm, fill, h, refill } from "./element.js";
import { Plan } from "./plan.js";
import { begin } from "./progress.js";
import { count, number } from "./quantity.js";

const pace = 1000 / 30; // ms between the frames of playing

/** Training is the strip below the drawing. */
export class Training {
  #workspace;
  #tell;
  #slider = byID("step");
  #shown = byID("step-shown");
  #loss = byID("loss-chart");
  #scatter = byID("scatter-chart");
  #charts;
  #seen;
  #drawn = ""; // what the charts were asked for
  #history;
  #losses = [];
  #final = null; // the loss at the last step: {doc, step, loss}
  #finals;
  #fed = []; // scalars that training changes
  #plan;
  #uneven = byID("uneven");
  #running = null;
  #at = null; // the document that is being trained
  #playing = 0;

  /** stopped is called with the document whose training ended in an error; what it gives says whether it explained it. */
  stopped = null;

  /** seen says whether the charts are seen; those that are not wait for the event "panels". */
  constructor(workspace, tell, seen) {
    this.#workspace = workspace;
    this.#seen = seen;
    this.#tell = tell;
    const quiet = (e) => workspace.fail(e);
    this.#charts = new api.Latest(quiet);
    this.#plan = new Plan(workspace, tell, () => this.#halt());
    this.#history = new api.Latest(quiet);
    this.#finals = new api.Latest(quiet);
    byID("train").addEventListener("click", () => this.train());
    byID("play").addEventListener("click", () => this.play());
    byID("restart").addEventListener("click", () => this.restart());
    this.#loss.addEventListener("click", (e) => this.#point(e));
    byID("steps").addEventListener("keydown", (e) => e.key === "Enter" && this.train());
    this.#slider.addEventListener("input", () => {
      this.#stop();
      this.#slider.setAttribute("aria-valuetext", this.#state(+this.#slider.value)); // which is read out at once
      workspace.goTo(+this.#slider.value);
    });
    workspace.addEventListener("doc", () => {
      this.#stop();
      this.#load();
    });
    workspace.addEventListener("history", () => this.#load());
    workspace.addEventListener("step", () => {
      this.#slider.value = workspace.step;
      this.#askLoss();
      this.#chart(true);
    });
    workspace.addEventListener("shown", (e) => this.#tellStep(e.detail));
    for (const type of ["explained", "panels"]) workspace.addEventListener(type, () => this.#chart(false));
    workspace.addEventListener("compare", () => this.#load());
    for (const type of ["doc", "compare"]) {
      workspace.addEventListener(type, () => {
        for (const asked of [this.#charts, this.#finals]) asked.stop(); // of what may be closed next
      });
    }
  }

  /** train makes as many more steps as the field says, or stops. */
  async train() {
    if (this.#running) {
      this.#running.abort();
      return;
    }
    const steps = Math.max(1, Math.min(100000, Math.trunc(+byID("steps").value) || 100));
    await this.#trainTo(this.#furthest() + steps);
  }

  /** restart opens what is shown anew, untrained. */
  async restart() {
    this.#halt();
    try {
      await this.#workspace.anew(this.#workspace.together, {});
      this.#tell("Back to step 0, untrained");
    } catch (e) {
      this.#workspace.fail(e);
    }
  }

  /** halt ends training and playing. */
  #halt() {
    this.#running?.abort();
    this.#stop();
  }

  /** load asks for what can be chosen. */
  load() {
    return this.#plan.load();
  }

  /** point goes to the step of a chart that was clicked. */
  #point(e) {
    const svg = e.target.closest("svg.chart");
    const step = svg && stepAt(svg, e.clientX);
    if (step === null || step === undefined) return;
    this.#stop();
    this.#workspace.goTo(step);
  }

  /** furthest is the most steps that one of the compared documents has. */
  #furthest() {
    return Math.max(0, ...this.#workspace.together.map((d) => d.steps ?? 0));
  }

  /** trainTo brings all that is compared to one step. */
  async #trainTo(step) {
    const all = this.#workspace.together.filter((d) => d.trains !== false && d.steps < step);
    if (!all.length) return;
    this.#running = new AbortController();
    byID("train").textContent = "Stop";
    this.#tell(`Training to step ${step}`);
    try {
      for (const d of all) await this.#run(d.id, step - d.steps);
    } catch (e) {
      if (e.name !== "AbortError" && !(await this.stopped?.(this.#at))) this.#workspace.fail(e);
    } finally {
      this.#running = null;
      byID("train").textContent = "Train";
      const before = this.#losses.length - 1;
      if (this.#workspace.doc) this.#tell(`Trained to step ${this.#workspace.last}` + (before >= 0 ? `, loss ${number(this.#losses[before])} at step ${before}` : ""));
      this.#show();
    }
  }

  async #run(id, steps) {
    this.#at = id;
    let last = 0;
    let step = this.#workspace.docs.find((d) => d.id === id)?.steps ?? 0;
    this.#workspace.viewOf(id).step = null;
    const advance = (to) => this.#workspace.trained(id, to);
    const [from, to] = [step, step + steps];
    const work = begin(`Training ${this.#workspace.called(id)} to step ${count(to)}`, () => this.#running?.abort());
    work.at(0, steps);
    try {
      await api.train(id, steps, (line) => {
        step = line.done ? line.steps ?? step : Math.max(step, line.step ?? step);
        work.at(step - from, steps);
        const now = performance.now();
        if (now - last > 250) {
          last = now;
          advance(step);
        }
      }, this.#running.signal);
    } finally {
      work.end();
      const made = await api.history(id);
      advance(made.steps);
    }
  }

  /** play moves through the steps that were made, from the start if it is at the end. */
  play() {
    if (this.#playing) {
      this.#stop();
      return;
    }
    const w = this.#workspace;
    const { last } = w;
    if (!last) return;
    if (w.step >= last) w.goTo(0);
    byID("play").textContent = "Pause";
    const stride = Math.max(1, Math.round(last / (calm() ? 20 : 240)));
    let before = performance.now();
    const tick = (now) => {
      if (now - before >= (calm() ? 500 : pace)) {
        before = now;
        w.goTo(w.step + stride);
      }
      if (w.step >= last) this.#stop();
      else this.#playing = requestAnimationFrame(tick);
    };
    this.#playing = requestAnimationFrame(tick);
  }

  #stop() {
    cancelAnimationFrame(this.#playing);
    this.#playing = 0;
    byID("play").textContent = "Play";
  }

  #load() {
    const { doc, last, together } = this.#workspace;
    byID("training").hidden = byID("charts").hidden = !doc;
    if (!doc) return;
    this.#slider.max = last;
    this.#slider.disabled = last === 0;
    byID("play").disabled = last === 0;
    byID("restart").disabled = together.every((d) => !d.steps);
    byID("train").disabled = together.every((d) => d.trains === false);
    this.#history.run((signal) => api.history(doc.id, signal), (made) => {
      if (this.#workspace.doc?.id !== doc.id) return;
      this.#losses = made.loss ?? [];
      this.#fed = made.fed ?? [];
      this.#show();
    });
  }

  #show() {
    const { doc, step, shows } = this.#workspace;
    if (!doc) return;
    this.#slider.value = step;
    this.#tellStep(shows);
    this.#askLoss();
    this.#chart(true);
  }

  /** tellStep says which step is shown, and what is known of it without asking. */
  #tellStep(step) {
    const { last, together } = this.#workspace;
    this.#describe(step, together, last);
    this.#say(this.#state(step));
  }

  /**
   * state is a step in words, with its loss: that of the last step is asked for, and until it is
   * there the loss before it is said, with its step.
   */
  #state(step) {
    const { doc, last, comparing } = this.#workspace;
    const said = `step ${count(step)} of ${count(last)}`;
    if (comparing.length > 0) return said;
    const own = this.#losses[step] ?? (this.#final?.doc === doc.id && this.#final.step === step ? this.#final.loss : undefined);
    if (own !== undefined) return `${said} · loss ${number(own)}`;
    const before = this.#losses.length - 1;
    return said + (before >= 0 ? ` · loss ${number(this.#losses[before])} at step ${count(before)}` : "");
  }

  /** askLoss asks for the loss at the last step, which no step of training has computed yet. */
  #askLoss() {
    const { doc, step, comparing } = this.#workspace;
    if (!doc || comparing.length > 0 || this.#running || doc.trains === false || step === 0 || step < this.#losses.length) return;
    this.#finals.run((signal) => api.loss(doc.id, step, signal), (is) => {
      this.#final = { doc: doc.id, ...is };
      if (this.#workspace.doc === doc && this.#workspace.step === step) this.#say(this.#state(step));
    });
  }

  /**
   * chart draws the charts of what is shown; unless anew says that there is more to draw, those
   * that are drawn stay.
   */
  #chart(anew) {
    const { doc, shows: step, last, comparing, together } = this.#workspace;
    if (!doc) return;
    if (!this.#seen() && comparing.length === 0) { // of a comparison they say how far each has come
      this.#drawn = "";
      return;
    }
    const ids = together.map((d) => d.id);
    const asked = JSON.stringify([ids, step, last, ids.map((id) => this.#row(id))]);
    if (!anew && asked === this.#drawn) return;
    this.#drawn = asked;
    const flat = together.filter((d) => d.plane).map((d) => d.id);
    this.#charts.run((signal) => Promise.all([
      ids.length > 1 ? api.compareCharts(ids, step, signal) : api.chart(doc.id, "loss", step, signal).then((svg) => ({ charts: [svg] })),
      ...flat.map((id) => api.chart(id, "scatter", step, signal, this.#row(id))),
    ]), ([made, ...scatters]) => {
      if (asked !== this.#drawn) return; // something else is shown by now
      const { charts, note, figures } = made;
      if (figures) this.#say([`step ${count(step)} of ${count(last)}`, ...figures.map(figure)].join(" · "));
      byID("charts").classList.toggle("many", charts.length + scatters.length > 3);
      byID("apart").hidden = !note;
      byID("apart").textContent = note ?? "";
      if (last || together.some((d) => d.steps)) place(this.#loss, charts);
      else refill(this.#loss, [h("p", { class: "chart-frame note" }, "Train, and the loss is drawn here; the slider then goes back to any step.")]);
      place(this.#scatter, scatters);
    });
  }

  /** row is the row of a document's data that the explained element is of; null for none. */
  #row(id) {
    const { reason } = this.#workspace.view;
    const rows = this.#workspace.docs.find((d) => d.id === id)?.rows;
    const axis = rows && reason?.axes ? reason.axes.findIndex((a) => a.name === rows.name && a.size === rows.size) : -1;
    return axis < 0 ? null : reason.at[axis];
  }

  #say(text) {
    this.#shown.textContent = text;
    this.#slider.setAttribute("aria-valuetext", text);
  }

  /** describe says what is trained by, and who has not come as far. */
  #describe(step, together, last) {
    this.#plan.show(this.#fed, step);
    const furthest = this.#furthest();
    this.#uneven.hidden = last === furthest;
    fill(this.#uneven, last < furthest && [
      together.map((d) => `${this.#workspace.called(d.id)}: ${count(d.steps)} steps`).join(", ") + ". They are shown at a step that all have. ",
      h("button", { type: "button", class: "tool small", id: "catch-up", disabled: Boolean(this.#running) || together.some((d) => d.trains === false && d.steps < furthest), onclick: () => this.#trainTo(furthest) }, `Train all to step ${count(furthest)}`),
    ]);
  }
}

/** figure says what a document has come to. */
function figure(f) {
  return `${f.name} ` + [f.inertia !== undefined && `inertia ${number(f.inertia)}`, f.loss !== null && `loss ${number(f.loss)}`].filter(Boolean).join(", ");
}

/** stepAt is the step that a chart has at a place of the window, by the numbers below its axis, which is logarithmic if log is true; null if it has none. */
export function stepAt(svg, x, log = false) {
  const marks = [...svg.querySelectorAll('text[text-anchor="middle"]')].map((t) => ({ at: +t.getAttribute("x"), step: Number(t.textContent.replace(/[\s,]/g, "").replace("−", "-")) })).filter((m) => Number.isFinite(m.step));
  if (marks.length < 2) return null;
  const [first, last] = [marks[0], marks.at(-1)];
  const at = new DOMPoint(x, 0).matrixTransform(svg.getScreenCTM().inverse()).x;
  const share = (at - first.at) / (last.at - first.at);
  return Math.max(0, Math.round(log ? first.step * (last.step / first.step) ** share : first.step + share * (last.step - first.step)));
}
