// The identity soft = goofy + spread as controls: its terms for the centres of each compared
// model, and a model between the two objectives that is trained anew when a control is released.
import * as api from "./api.js";
import { fill, h } from "./element.js";
import { number } from "./quantity.js";

const file = "kmeans-between.tapestry";
const names = { soft: "soft", goofy: "goofy", spread: "spread" };
const hardness = { from: -2, to: 2 }; // of γ, as powers of ten

/** Identity is shown in a comparison of objectives that the identity relates. */
export class Identity {
  #inside = h("div", { class: "identity" });
  element = h("details", { class: "terms-of", ontoggle: () => this.load() }, h("summary", {}, "its terms, and what lies between"), this.#inside);
  #workspace;
  #latest;
  #own = null; // id of the document between
  #share = 0.5;
  #gamma = null; // fixed; null while it is annealed like that of the others
  #working = null;

  constructor(workspace) {
    this.#workspace = workspace;
    this.#latest = new api.Latest((e) => fill(this.#values, h("p", { class: "note" }, e.message)));
    for (const type of ["step", "history", "compare", "docs"]) workspace.addEventListener(type, () => this.load());
    this.#build();
  }

  #values = h("table", { class: "terms" });
  #said = h("output", { class: "note", "aria-live": "polite" });

  #build() {
    const slider = (id, title, min, max, step, value, text, set) => {
      const out = h("output", { for: id }, text(value));
      const input = h("input", { type: "range", id, min, max, step, value, "aria-valuetext": text(value),
        oninput: (e) => {
          out.textContent = text(+e.target.value);
          e.target.setAttribute("aria-valuetext", text(+e.target.value));
        },
        onchange: (e) => {
          set(+e.target.value);
          this.train();
        } });
      return h("label", { for: id }, title, input, out);
    };
    fill(this.#inside,
      h("p", { class: "equation" }, h("span", { class: "soft" }, "soft"), " = ", h("span", { class: "goofy" }, "goofy"), " + λ · ", h("span", { class: "spread" }, "spread"), h("span", { class: "note" }, " with λ = 1")),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "The terms of the identity" }, this.#values),
      h("div", { class: "between" },
        slider("lambda", "λ: goofy 0 … soft 1", 0, 1, 0.05, this.#share, (v) => v.toFixed(2), (v) => (this.#share = v)),
        slider("hardness", "γ: soft … hard", hardness.from, hardness.to, 0.1, 0, (v) => (this.#gamma === null && v === 0 ? "annealed" : number(+(10 ** v).toPrecision(2))), (v) => (this.#gamma = +(10 ** v).toPrecision(2))),
        this.#said));
  }

  /** load asks for the terms at the step that is shown. */
  load() {
    if (!this.element.open || !this.element.isConnected) return;
    const w = this.#workspace;
    const { together, step } = w;
    this.#latest.run((signal) => Promise.all(together.map((d) => api.terms(d.id, step, signal).catch((e) => ({ none: e.message })))), (all) => {
      fill(this.#values,
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "centres of"), Object.values(names).map((n) => h("th", { scope: "col", class: n }, n)), Object.values(names).map((n) => h("th", { scope: "col", class: n }, `‖∂${n}/∂r‖`)))),
        h("tbody", {}, all.map((t, i) => h("tr", {}, h("th", { scope: "row" }, w.called(together[i].id)),
          t.none ? h("td", { colspan: 6, class: "note" }, t.none) : [Object.keys(names).map((n) => h("td", { class: n }, number(t[n].value))), Object.keys(names).map((n) => h("td", { class: n }, number(t[n].gradient)))]))));
    });
  }

  /** train opens the objective between at the controls' values and brings it to the others' step. */
  async train() {
    const w = this.#workspace;
    this.#working?.abort();
    const control = (this.#working = new AbortController());
    const stale = () => control.signal.aborted;
    this.#said.textContent = "training…";
    try {
      const text = (await api.examples()).find((e) => e.name === file)?.text;
      if (!text) throw new Error(`There is no ${file} to train.`);
      const like = w.doc;
      const before = w.now(this.#own)?.id;
      const others = w.comparing.filter((id) => id !== before);
      const steps = Math.max(like.steps, 1);
      const scalars = { λ: this.#share, ...(this.#gamma !== null && { γ: this.#gamma }) };
      const { k } = like.settings;
      const doc = await api.open({ text, name: file, data: like.data, dtype: like.dtype, seed: like.seed, rate: like.rate, schedule: like.schedule && !like.schedule.usual ? like.schedule.text : "", courses: like.opening?.courses ?? {}, optimiser: like.optimiser, settings: k ? { j: k } : {}, scalars });
      if (stale()) {
        await api.close(doc.id);
        return;
      }
      this.#own = doc.id;
      await api.train(doc.id, steps, () => {}, control.signal);
      w.add({ ...doc, steps });
      w.compare([...others, doc.id]);
      if (before) await w.close(before);
      this.#said.textContent = `λ = ${this.#share.toFixed(2)}, γ ${this.#gamma === null ? "annealed" : "= " + number(this.#gamma)}: trained to step ${steps}`;
    } catch (e) {
      if (!stale()) {
        this.#said.textContent = "";
        w.fail(e);
      }
    }
  }
}
