// The rewriting: what compiling makes of the model, one firing of a rule at a time,
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
  #list = h("ol", { class: "firings" });
  #present = h("div", { class: "present", "aria-live": "polite" });

  constructor(workspace, tell) {
    this.#workspace = workspace;
    this.#tell = tell;
    this.#latest = new api.Latest((e) => this.#note(e.message));
    workspace.addEventListener("doc", () => this.refresh());
    workspace.addEventListener("view", () => this.#mark());
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
    fill(this.#list, firings.map((f, i) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => this.go(i) }, f.rule), h("span", { class: "note" }, " " + f.pass), !f.right && h("b", { class: "wrong" }, " ✗"))));
    fill(this.#host,
      h("p", { class: "note" }, `${count(nodes[0])} nodes become ${count(nodes[1])}; ${count(firings.length)} ${firings.length === 1 ? "rule" : "rules"} fired, ${wrong ? wrong + " of them change values" : "none changes a value"}.`),
      firings.length > 0 && [walk(["First firing", "Firing before", "Next firing", "Last firing"], null, this.#place, (way) => this.go(this.#at() + way)), this.#present, this.#list]);
    this.#mark();
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
    [...this.#list.children].forEach((li, i) => li.firstChild.setAttribute("aria-current", String(i === view.firing)));
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
