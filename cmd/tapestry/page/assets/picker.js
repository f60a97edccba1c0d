// The list of models by family, with the settings of the one that is chosen.
import * as api from "./api.js";
import { byID, fill, h } from "./element.js";

/** Picker opens models. */
export class Picker {
  #workspace;
  #host = byID("models");
  #search = byID("model-search");
  #families = [];
  #optimisers = [];
  #chosen = null;

  constructor(workspace) {
    this.#workspace = workspace;
    this.#search.addEventListener("input", () => this.#draw());
    this.#search.addEventListener("keydown", (e) => {
      if (e.key !== "Enter" && e.key !== "ArrowDown") return;
      e.preventDefault();
      const first = this.#host.querySelector("button.model");
      if (e.key === "ArrowDown") first?.focus();
      else first?.click();
    });
    this.#host.addEventListener("keydown", (e) => {
      const way = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (!way || !e.target.matches("button.model")) return;
      e.preventDefault();
      const all = [...this.#host.querySelectorAll("button.model")];
      const next = all[all.indexOf(e.target) + way];
      (next ?? (way < 0 ? this.#search : null))?.focus();
    });
  }

  async load() {
    [this.#families, this.#optimisers] = await Promise.all([api.models(), api.optimisers()]);
    this.#draw();
  }

  #draw() {
    const wanted = this.#search.value.trim().toLowerCase();
    const fits = (m) => !wanted || [m.name, m.title, m.notes, m.formula].some((t) => t?.toLowerCase().includes(wanted));
    const families = this.#families.map((f) => ({ ...f, models: f.models.filter((m) => fits(m) || f.family.toLowerCase().includes(wanted)) })).filter((f) => f.models.length > 0);
    fill(this.#host, families.map((f) => {
      const here = f.models.some((m) => m.name === this.#chosen);
      return h("details", { open: Boolean(wanted) || here },
        h("summary", {}, h("span", {}, f.family), h("span", { class: "count" }, f.models.length)),
        h("ul", {}, f.models.map((m) => h("li", {}, this.#entry(m)))));
    }), families.length === 0 && h("p", { class: "note" }, "No model has that in its name or notes."));
  }

  #entry(m) {
    const chosen = m.name === this.#chosen;
    const button = h("button", { type: "button", class: "model", "aria-expanded": String(chosen), onclick: () => {
      this.#chosen = chosen ? null : m.name;
      this.#draw();
      // Later, or the key that pressed this button would press the next one as well.
      setTimeout(() => this.#host.querySelector(chosen ? `button[data-model="${m.name}"]` : "form button.action")?.focus());
    }, "data-model": m.name }, h("span", { class: "title" }, m.title || m.name), m.title && m.title !== m.name && h("span", { class: "name" }, m.name));
    return chosen ? [button, this.#form(m)] : button;
  }

  #form(m) {
    const id = (name) => `set-${m.name}-${name}`;
    const field = (name, label, control, doc) => {
      if (doc) control.setAttribute("aria-describedby", id(name) + "-doc");
      return h("div", { class: "field" }, h("label", { for: id(name) }, label), control, doc && h("span", { class: "note", id: id(name) + "-doc" }, doc));
    };
    const input = (name, value, more) => h("input", { id: id(name), name, value, autocomplete: "off", ...more });
    const select = (name, value, choices, empty = "none") => h("select", { id: id(name), name }, choices.map((c) => h("option", { value: c, selected: c === value }, c || empty)));
    const settings = (m.settings ?? []).map((s) => field("setting:" + s.name, s.name,
      s.choices?.length ? select("setting:" + s.name, String(s.default), s.choices.map(String)) : input("setting:" + s.name, s.default, { inputmode: s.kind === "count" ? "numeric" : s.kind === "real" ? "decimal" : null }), s.doc));
    const clustering = m.name.startsWith("kmeans");
    const form = h("form", { class: "settings", "aria-label": "Settings of " + (m.title || m.name) },
      m.formula && h("p", { class: "plain-formula" }, m.formula),
      m.notes && h("p", { class: "note" }, m.notes),
      h("div", { class: "fields" }, settings),
      h("details", {}, h("summary", {}, "Training"),
        h("div", { class: "fields" },
          field("dtype", "numbers", select("dtype", "f32", ["f32", "f64"])),
          field("optimiser", "optimiser", select("optimiser", "", ["", ...this.#optimisers], "usual")),
          field("rate", "rate", input("rate", "", { inputmode: "decimal", placeholder: "fitting" })),
          field("seed", "seed", input("seed", "1", { inputmode: "numeric" })),
          clustering && field("data", "data", select("data", "iris", ["iris", ""])))),
      h("div", { class: "actions" }, h("button", { class: "action primary", type: "submit" }, "Open"),
        this.#workspace.doc && h("button", { class: "action", type: "button", onclick: () => this.#open(m, form, true) }, "Open and compare")));
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.#open(m, form, false);
    });
    return form;
  }

  async #open(m, form, compare) {
    const given = new FormData(form);
    const settings = {};
    for (const [name, value] of given) {
      const s = m.settings?.find((x) => "setting:" + x.name === name);
      if (s && String(value) !== String(s.default)) settings[s.name] = String(value);
    }
    const what = { model: m.name, settings, dtype: given.get("dtype"), optimiser: given.get("optimiser"), rate: Number(given.get("rate")) || 0, seed: +given.get("seed"), data: given.get("data") ?? "" };
    await this.open(what, compare);
  }

  /** open opens what is described and shows it, beside the present document if asked. */
  async open(what, compare = false) {
    const w = this.#workspace;
    const beside = compare ? w.doc?.id : null;
    try {
      document.body.classList.add("opening");
      const doc = await w.open(what);
      if (beside) {
        w.show(beside);
        w.compare([doc.id]);
      }
    } catch (e) {
      w.fail(e);
    } finally {
      document.body.classList.remove("opening");
    }
  }
}
