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
  #fed = []; // scalars that training changes
  #plan = byID("plan");
  #uneven = byID("uneven");
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
    workspace.addEventListener("compare", () => this.#load());
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
      const now = this.#workspace.doc;
      if (now) this.#tell(`Trained to step ${this.#workspace.last}, loss ${number(this.#losses.at(-1))}`);
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
    byID("training").hidden = !doc;
    if (!doc) return;
    this.#slider.max = last;
    this.#slider.disabled = last === 0;
    byID("play").disabled = last === 0;
    byID("train").disabled = together.every((d) => d.trains === false);
    this.#history.run((signal) => api.history(doc.id, signal), (made) => {
      if (this.#workspace.doc?.id !== doc.id) return;
      this.#losses = made.loss ?? [];
      this.#fed = made.fed ?? [];
      this.#show();
    });
  }

  #show() {
    const { doc, step, last, comparing, together } = this.#workspace;
    if (!doc) return;
    this.#slider.value = step;
    this.#describe(doc, step, together, last);
    const loss = this.#losses[step] ?? this.#losses.at(-1); // the last state has not been run yet
    this.#say(`step ${count(step)} of ${count(last)}` + (comparing.length === 0 && loss !== undefined ? ` · loss ${number(loss)}` : ""));
    const ids = together.map((d) => d.id);
    const flat = together.filter((d) => d.plane).map((d) => d.id);
    byID("training").classList.toggle("with-plane", flat.length > 0);
    this.#charts.run((signal) => Promise.all([
      ids.length > 1 ? api.compareCharts(ids, step, signal) : api.chart(doc.id, "loss", step, signal).then((svg) => ({ charts: [svg] })),
      ...flat.map((id) => api.chart(id, "scatter", step, signal)),
    ]), ([made, ...scatters]) => {
      if (this.#workspace.doc?.id !== doc.id) return;
      const { charts, note, figures } = made;
      if (figures) this.#say([`step ${count(step)} of ${count(last)}`, ...figures.map(figure)].join(" · "));
      this.#loss.parentElement.classList.toggle("many", charts.length + scatters.length > 3);
      byID("apart").hidden = !note;
      byID("apart").textContent = note ?? "";
      fill(this.#loss, last || together.some((d) => d.steps) ? charts.map((c) => chart(c)) : h("p", { class: "chart-frame note" }, "Train, and the loss is drawn here; the slider then goes back to any step."));
      fill(this.#scatter, scatters.map((s) => chart(s)));
    });
  }

  #say(text) {
    this.#shown.textContent = text;
    this.#slider.setAttribute("aria-valuetext", text);
  }

  /** describe says by what is trained, what training feeds, and who has not come as far. */
  #describe(doc, step, together, last) {
    const plans = together.map((d) => d.optimiser ? `${d.optimiser}, rate ${number(d.rate)}${d.as_notes ? ", as the notes have it" : ""}` : "steps of its own");
    const alike = plans.every((p) => p === plans[0]);
    const courses = [];
    for (const c of [doc, ...together].flatMap((d) => d.courses ?? [])) {
      if (!courses.some((other) => other.name === c.name)) courses.push(c);
    }
    const now = (c) => {
      const fed = this.#fed.find((f) => f.name === c.name)?.values;
      return fed?.length ? `, now ${number(fed[Math.min(step, fed.length - 1)])}` : "";
    };
    fill(this.#plan,
      h("span", {}, alike ? plans[0] : plans.map((p, i) => `${together[i].title || together[i].name}: ${p}`).join("; ")),
      courses.map((c) => h("span", { class: "course" }, ` · ${name(c)} ${number(c.from)} → ${number(c.to)} over ${count(c.steps)} steps${now(c)}`)),
      courses.length > 0 && h("span", {}, `: ${courses.map(name).join(" and ")} ${courses.length > 1 ? "change" : "changes"} the objective, so the loss may rise`));
    const furthest = this.#furthest();
    this.#uneven.hidden = last === furthest;
    fill(this.#uneven, last < furthest && [
      together.map((d) => `${d.title || d.name}: ${count(d.steps)} steps`).join(", ") + ". They are shown at a step that all have. ",
      h("button", { type: "button", class: "tool small", id: "catch-up", disabled: Boolean(this.#running) || together.some((d) => d.trains === false && d.steps < furthest), onclick: () => this.#trainTo(furthest) }, `Train all to step ${count(furthest)}`),
    ]);
  }
}

/** name is what a scalar is called, without the scopes that it is in. */
function name(scalar) {
  return scalar.name.slice(scalar.name.lastIndexOf("/") + 1);
}

/** figure says what a document has come to. */
function figure(f) {
  return `${f.name} ` + [f.inertia !== undefined && `inertia ${number(f.inertia)}`, f.loss !== null && `loss ${number(f.loss)}`].filter(Boolean).join(", ");
}

/** chart inlines a chart, so that it follows the page's colours. */
function chart(svg) {
  return h("div", { class: "chart-frame" }, markup(svg));
}
