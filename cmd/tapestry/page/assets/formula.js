// Mathematics: one formula, or how the derivative of a model comes about.
import { h, markup } from "./element.js";

/** formula shows {mathml, unicode, latex}. */
export function formula(f) {
  return h("div", { class: "formula", tabindex: "0", role: "region", "aria-label": f.unicode ?? "formula" }, markup(f.mathml));
}

/** derivation shows a model's formulas, and the steps to its derivatives with the rules that they follow from. */
export function derivation(d) {
  return [
    d.formula.length > 0 && h("section", {}, h("h3", {}, "Formula"), h("ol", { class: "chain" }, d.formula.map((f) => h("li", {}, formula(f))))),
    d.derivation && h("section", {}, h("h3", {}, "Formula, and the derivative by " + d.by.join(", ") + " step by step"), h("div", { class: "steps", tabindex: "0", role: "region", "aria-label": "The derivation" }, markup(d.derivation))),
  ];
}
