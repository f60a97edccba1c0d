// The values of a node as a table that is read in pages.
import * as api from "./api.js";
import { fill, h } from "./element.js";
import { number } from "./quantity.js";

const rows = 12;
const columns = 6;

/** Values shows the values of one node at one step, its gradient beside them. */
export class Values {
  element = h("section", { class: "values" });
  #workspace;
  #latest;
  #at = [];
  #key = "";
  #gradient = true;

  constructor(workspace) {
    this.#workspace = workspace;
    this.#latest = new api.Latest((e) => fill(this.element, h("h3", {}, "Values"), h("p", { class: "note" }, e.message)));
  }

  /** show asks for a node's values; a place once chosen stays through the steps. */
  show(node, doc) {
    const key = doc + " " + node.id;
    if (key !== this.#key) {
      this.#key = key;
      this.#at = (node.axes ?? []).map(() => 0);
      fill(this.element);
    }
    const step = this.#workspace.stepOf(doc);
    this.#latest.run((signal) => api.values(doc, node.id, { step, at: this.#at.join(","), rows, cols: columns }, signal), (v) => this.#draw(node, v, doc, key));
  }

  #draw(node, v, doc, key) {
    if (key !== this.#key) return;
    const focus = this.element.contains(document.activeElement) ? document.activeElement.dataset.control : null;
    const move = (axis, to) => {
      this.#at[axis] = to;
      this.show(node, doc);
    };
    const page = (span, size, what) => span && span.axis >= 0 && v.axes[span.axis].size > size && h("div", { class: "pager", role: "group", "aria-label": what },
      h("button", { type: "button", "data-control": what + "-", "aria-label": "Previous " + what, disabled: span.from === 0, onclick: () => move(span.axis, Math.max(0, span.from - size)) }, "‹"),
      h("span", {}, `${nameOf(v, span.axis)} ${span.from}–${span.to - 1} of ${v.axes[span.axis].size}`),
      h("button", { type: "button", "data-control": what + "+", "aria-label": "Next " + what, disabled: span.to >= v.axes[span.axis].size, onclick: () => move(span.axis, span.to) }, "›"));
    const fixed = (v.fixed ?? []).map(({ axis, index }) => h("label", { class: "fixed" }, nameOf(v, axis) + " =",
      h("input", { type: "number", "data-control": "axis" + axis, min: "0", max: v.axes[axis].size - 1, value: index, onchange: (e) => move(axis, clamp(+e.target.value, v.axes[axis].size)) })));
    const beside = v.gradcells && this.#gradient;
    const corner = v.row?.axis >= 0 && v.col?.axis >= 0 ? `${nameOf(v, v.row.axis)} \\ ${nameOf(v, v.col.axis)}` : "";
    const table = h("table", {},
      h("caption", { class: "unseen" }, `Values of ${node.label ?? node.name ?? node.id}` + (beside ? ", with the gradient below each" : "")),
      v.col?.axis >= 0 && h("thead", {}, h("tr", {}, h("th", { scope: "col" }, corner), range(v.col).map((i) => h("th", { scope: "col" }, i)))),
      h("tbody", {}, v.cells.map((row, r) => h("tr", {},
        h("th", { scope: "row" }, v.row?.axis >= 0 ? v.row.from + r : ""),
        row.map((cell, c) => h("td", { class: odd(cell) ? "alarming" : null }, h("span", { class: "cell" }, written(cell)), beside && h("span", { class: "grad" }, written(v.gradcells[r][c]))))))));
    fill(this.element,
      h("div", { class: "head" }, h("h3", {}, "Values"),
        v.gradcells && h("label", { class: "check" }, h("input", { type: "checkbox", "data-control": "grad", checked: this.#gradient, onchange: (e) => {
          this.#gradient = e.target.checked;
          this.#draw(node, v, doc, key);
        } }), "with gradient")),
      fixed.length > 0 && h("div", { class: "places" }, fixed),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of values" }, table),
      h("div", { class: "places" }, page(v.row, rows, "rows"), page(v.col, columns, "columns")));
    if (focus) this.element.querySelector(`[data-control="${focus}"]:not(:disabled)`)?.focus();
  }
}

function nameOf(v, axis) {
  return v.axes[axis]?.name || "axis " + axis;
}

function range({ from, to }) {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

function clamp(i, size) {
  return Math.max(0, Math.min(size - 1, Math.trunc(i) || 0));
}

function written(cell) {
  return typeof cell === "number" ? number(cell) : String(cell).replaceAll("-", "−");
}

function odd(cell) {
  return /nan|inf/i.test(String(cell));
}
