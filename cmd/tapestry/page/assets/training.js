// Training: more steps, and a slider through those that were made. Everything on
// the page shows the step that the slider is at.
import * as api from "./api.js";
import { byID, calm, fill, h, markup } from "./element.js";
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
  #history;
  #losses = [];
  #running = null;
  #at = null; // the document that is being trained
  #playing = 0;

  /** stopped is called with the document whose training ended in an error; what it gives says whether it explained it. */
  stopped = null;

  constructor(workspace, tell) {
    this.#workspace = workspace;
    this.#tell = tell;
    const quiet = (e) => workspace.fail(e);
    this.#charts = new api.Latest(quiet);
    this.#history = new api.Latest(quiet);
    byID("train").addEventListener("click", () => this.train());
    byID("play").addEventListener("click", () => this.play());
    byID("steps").addEventListener("keydown", (e) => e.key === "Enter" && this.train());
    this.#slider.addEventListener("input", () => {
      this.#stop();
      workspace.goTo(+this.#slider.value);
    });
    workspace.addEventListener("doc", () => {
      this.#stop();
      this.#load();
    });
    workspace.addEventListener("history", () => this.#load());
    workspace.addEventListener("step", () => this.#show());
    workspace.addEventListener("compare", () => this.#show());
  }

  /** train makes as many more steps as the field says, or stops. */
  async train() {
    const { doc, comparing } = this.#workspace;
    if (this.#running) {
      this.#running.abort();
      return;
    }
    if (!doc) return;
    const steps = Math.max(1, Math.min(100000, Math.trunc(+byID("steps").value) || 100));
    this.#running = new AbortController();
    byID("train").textContent = "Stop";
    this.#tell(`Training ${steps} steps`);
    try {
      for (const id of [doc.id, ...comparing]) await this.#run(id, steps);
    } catch (e) {
      if (e.name !== "AbortError" && !(await this.stopped?.(this.#at))) this.#workspace.fail(e);
    } finally {
      this.#running = null;
      byID("train").textContent = "Train";
      const now = this.#workspace.doc;
      if (now) this.#tell(`Trained to step ${now.steps}, loss ${number(this.#losses.at(-1))}`);
    }
  }

  async #run(id, steps) {
    this.#at = id;
    let last = 0;
    let step = this.#workspace.docs.find((d) => d.id === id)?.steps ?? 0;
    this.#workspace.viewOf(id).step = null;
    const advance = (to) => this.#workspace.trained(id, to);
    try {
      await api.train(id, steps, (line) => {
        step = line.done ? line.steps ?? step : Math.max(step, line.step ?? step);
        const now = performance.now();
        if (now - last > 250) {
          last = now;
          advance(step);
        }
      }, this.#running.signal);
    } finally {
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
    const last = w.doc?.steps ?? 0;
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
    const { doc } = this.#workspace;
    byID("training").hidden = !doc;
    if (!doc) return;
    this.#slider.max = doc.steps;
    this.#slider.disabled = doc.steps === 0;
    byID("play").disabled = doc.steps === 0;
    byID("train").disabled = doc.trains === false;
    this.#history.run((signal) => api.history(doc.id, signal), (made) => {
      if (this.#workspace.doc?.id !== doc.id) return;
      this.#losses = made.loss ?? [];
      this.#show();
    });
  }

  #show() {
    const { doc, step, comparing } = this.#workspace;
    if (!doc) return;
    this.#slider.value = step;
    const loss = this.#losses[step] ?? this.#losses.at(-1); // the last state has not been run yet
    this.#shown.textContent = `step ${count(step)} of ${count(doc.steps)}` + (loss !== undefined ? ` · loss ${number(loss)}` : "");
    this.#slider.setAttribute("aria-valuetext", this.#shown.textContent);
    const ids = [doc.id, ...comparing];
    const flat = ids.filter((id) => this.#workspace.docs.find((d) => d.id === id)?.plane);
    byID("training").classList.toggle("with-plane", flat.length > 0);
    this.#charts.run((signal) => Promise.all([
      ids.length > 1 ? api.compareChart(ids, "loss", step, signal) : api.chart(doc.id, "loss", step, signal),
      ...flat.map((id) => api.chart(id, "scatter", this.#workspace.stepOf(id), signal)),
    ]), ([curve, ...scatters]) => {
      if (this.#workspace.doc?.id !== doc.id) return;
      fill(this.#loss, ids.some((id) => this.#workspace.docs.find((d) => d.id === id)?.steps) ? chart(curve) : h("p", { class: "chart-frame note" }, "Train, and the loss is drawn here; the slider then goes back to any step."));
      fill(this.#scatter, scatters.map((s) => chart(s)));
    });
  }
}

/** chart inlines a chart, so that it follows the page's colours. */
function chart(svg) {
  return h("div", { class: "chart-frame" }, markup(svg));
}
