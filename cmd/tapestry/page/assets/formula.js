// Mathematics: one formula, or how the derivative of a model comes about.
import { h, markup } from "./element.js";

/** formula shows {mathml, unicode, latex}. */
export function formula(f) {
  return h("div", { class: "formula", tabindex: "0", role: "region", "aria-label": f.unicode ?? "formula" }, markup(f.mathml));
}

/** derivatives names a few; of a large model, whose names repeat in its modules, it says how many there are. */
function derivatives(by) {
  return by.length > 4 ? `the derivatives by ${by.length} quantities` : `the derivative by ${by.join(", ")}`;
}

/** derivation shows a model's formulas, and the steps to its derivatives with the rules that they follow from. */
export function derivation(d) {
  return [
    d.formula.length > 0 && h("section", {}, h("h3", {}, "Formula"), h("ol", { class: "chain" }, d.formula.map((f) => h("li", {}, formula(f))))),
    d.derivation && h("section", {}, h("h3", {}, `Formula, and ${derivatives(d.by)} step by step`), h("div", { class: "steps", tabindex: "0", role: "region", "aria-label": "The derivation" }, markup(d.derivation))),
  ];
}
