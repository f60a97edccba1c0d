// The rewriting: what compiling makes of the model, rule by rule and one firing at a time,
// with the two sides as mathematics, as a drawing in the middle, and what the numbers
// say of them.
import * as api from "./api.js";
import { byID, fill, h, markup } from "./element.js";
import { count } from "./quantity.js";
import { walk } from "./walk.js";

/** RewritesPanel steps through the firings of the current document. */
export class RewritesPanel {
  #workspace;
  #tell;
  #host = byID("rewrites-panel");
  #latest;
  #doc = null;
  #firings = [];
  #place = h("output", {});
  #rows = []; // by the number of the firing
  #groups = [];
  #list = h("div", { class: "rules" });
  #search = h("input", { id: "rule-search", type: "search", placeholder: "Search rules and formulas", autocomplete: "off" });
  #none = h("p", { class: "note", hidden: true }, "No rule that fired has that.");
  #present = h("div", { class: "present", "aria-live": "polite" });

  constructor(workspace, tell) {
    this.#workspace = workspace;
    this.#tell = tell;
    this.#latest = new api.Latest((e) => this.#note(e.message));
    workspace.addEventListener("doc", () => this.refresh());
    workspace.addEventListener("view", () => this.#mark());
    this.#search.addEventListener("input", () => this.#find());
    this.#search.addEventListener("keydown", (e) => this.#step(e));
    this.#list.addEventListener("keydown", (e) => this.#step(e));
  }

  /** refresh loads the firings if the panel is shown; where it is not, the model is drawn again. */
  refresh() {
    const { doc, view } = this.#workspace;
    if (this.#host.hidden) {
      if (view.firing !== null) this.#workspace.look({ firing: null });
      return;
    }
    if (!doc) this.#note("Nothing is open yet.");
    else if (this.#doc === doc.id) this.#mark();
    else {
      this.#note("Every rule that fires is checked by numbers; that takes a moment.");
      this.#latest.restart((signal) => api.rewrites(doc.id, signal), (r) => this.#build(doc.id, r));
    }
  }

  #note(text) {
    this.#doc = null;
    fill(this.#host, h("p", { class: "note" }, text));
  }

  #build(doc, { nodes, firings }) {
    this.#doc = doc;
    this.#firings = firings;
    const wrong = firings.filter((f) => !f.right).length;
    this.#rows = firings.map((f, i) => h("li", { value: i + 1 },
      h("button", { type: "button", class: "link", onclick: () => this.go(i) }, h("span", { class: "unseen" }, `${f.rule}, firing ${i + 1}: `), f.before.text + " → " + f.after.text), !f.right && h("b", { class: "wrong" }, " ✗")));
    this.#groups = grouped(firings).map((g) => {
      const element = h("details", { class: "rule", ontoggle: () => {
        const list = element.querySelector("ol");
        if (element.open && !list.firstChild) fill(list, g.at.map((i) => this.#rows[i]));
      } },
      h("summary", {}, h("b", {}, g.rule), h("span", { class: "times" }, `× ${count(g.at.length)}`), h("span", { class: "note" }, ` ${g.pass}`),
        g.wrong > 0 && h("b", { class: "wrong" }, ` ✗ ${g.wrong}`),
        h("span", { class: "note why" }, g.why), g.cost && h("span", { class: "note why" }, g.cost)),
      h("ol", { class: "firings" }));
      return { ...g, element };
    });
    fill(this.#list, this.#groups.map((g) => g.element));
    fill(this.#host,
      h("p", { class: "note" }, `${count(nodes[0])} nodes become ${count(nodes[1])}; rules fired ${firings.length === 1 ? "once" : count(firings.length) + " times"}, ${wrong ? wrong + " of them change values" : "none changes a value"}.`),
      firings.length > 0 && [walk(["First firing", "Firing before", "Next firing", "Last firing"], null, this.#place, (way) => this.go(this.#at() + way)), this.#present,
        h("label", { class: "unseen", for: "rule-search" }, "Search rules and what they changed"), this.#search, this.#none, this.#list]);
    this.#find();
    this.#mark();
  }

  /** find leaves the groups and firings that have every word of the search. */
  #find() {
    const words = this.#search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text) => words.every((w) => text.includes(w));
    let found = 0;
    for (const g of this.#groups) {
      const rule = `${g.rule} ${g.pass} ${g.why}`.toLowerCase();
      const rows = g.at.filter((i) => {
        const f = this.#firings[i];
        const shown = has(`${rule} ${f.why} ${f.pos ?? ""} ${f.before.text} ${f.after.text}`.toLowerCase());
        this.#rows[i].hidden = !shown;
        return shown;
      });
      g.element.hidden = rows.length === 0;
      if (words.length && rows.length && !has(rule)) g.element.open = true; // what was found is in a row
      found += rows.length;
    }
    this.#none.hidden = found > 0;
    this.#tell(words.length ? `${found} of ${this.#firings.length} firings` : "");
  }

  /** step moves the focus through the rules and the firings that are open. */
  #step(e) {
    const way = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[e.key];
    if (!way || e.altKey || e.ctrlKey || e.metaKey) return;
    const all = [this.#search, ...this.#list.querySelectorAll("summary, button")].filter((x) => x.checkVisibility());
    const at = all.indexOf(document.activeElement);
    if (at < 0 || (at === 0 && !Number.isFinite(way))) return; // in the field these keys are the text's
    e.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, at + way))].focus();
  }

  #at() {
    return this.#workspace.view.firing ?? (this.#firings.length ? -1 : 0);
  }

  /** go shows a firing, before and after beside each other in the middle. */
  go(to) {
    if (this.#firings.length === 0) return;
    const firing = Math.max(0, Math.min(this.#firings.length - 1, to));
    this.#workspace.look({ firing });
    this.#tell(`Firing ${firing + 1}: ${this.#firings[firing].rule}`);
  }

  #mark() {
    const { doc, view } = this.#workspace;
    if (this.#doc === null || this.#doc !== doc?.id) return;
    const f = this.#firings[view.firing];
    this.#place.textContent = f ? `${view.firing + 1} of ${this.#firings.length}` : `${this.#firings.length}`;
    this.#rows.forEach((li, i) => li.firstChild.setAttribute("aria-current", String(i === view.firing)));
    const group = f && this.#groups.find((g) => g.at.includes(view.firing));
    if (group && !group.element.open) group.element.open = true;
    const side = (s) => h("dd", {}, s.mathml ? h("div", { class: "formula", tabindex: "0", role: "region", "aria-label": s.text }, markup(s.mathml)) : h("code", { class: "code" }, s.text));
    fill(this.#present, f ? [
      h("h3", {}, `${f.pass}: ${f.rule}`),
      h("dl", { class: "sides" },
        [["why", h("dd", {}, f.why)], f.pos && ["line", h("dd", {}, f.pos)], ["before", side(f.before)], ["after", side(f.after)], ["check", h("dd", { class: f.right ? null : "wrong" }, (f.right ? "✓ " : "✗ ") + f.check)]]
          .filter(Boolean).map(([name, dd]) => h("div", {}, h("dt", {}, name), dd))),
      h("button", { type: "button", class: "link", onclick: () => this.#workspace.look({ firing: null }) }, "Back to the model"),
    ] : h("p", { class: "note" }, "Choose one, and the drawing shows what stood there and what took its place."));
  }
}

/** grouped gathers firings by rule, in the order in which the rules first fired. */
function grouped(firings) {
  const groups = new Map();
  firings.forEach((f, i) => {
    const rule = f.values ? f.rule : "derived again"; // with the gradient's name every rule would be its own
    const key = f.pass + "\n" + rule;
    if (!groups.has(key)) groups.set(key, { pass: f.pass, rule, why: f.why, at: [], wrong: 0, values: [0, 0] });
    const g = groups.get(key);
    g.at.push(i);
    g.wrong += f.right ? 0 : 1;
    for (const side of [0, 1]) g.values[side] += f.values?.[side] ?? 0;
  });
  return [...groups.values()].map((g) => ({ ...g, cost: g.values[0] !== g.values[1] && `computes ${count(g.values[1])} values where it was ${count(g.values[0])}` }));
}
