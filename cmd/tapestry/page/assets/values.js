// The values of a node as a table that is read in pages; in a comparison also those of the
// other model, and the difference.
import * as api from "./api.js";
import { become, fill, h } from "./element.js";
import { number } from "./quantity.js";

const rows = 12;
const columns = 6;

/** Values shows the values of one node at one step, its gradient beside them. */
export class Values {
  element = h("section", { class: "values" });
  #workspace;
  #drawing;
  #latest;
  #axes = [];
  #at = [];
  #key = "";
  #made = null; // {node, own, beside, doc} that are shown
  #frame = ""; // what of them the element says around its table
  #gradient = true;
  #side = "own"; // own, other or difference

  constructor(workspace, drawing) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    this.#latest = new api.Latest((e) => fill(this.element, h("h3", {}, "Values"), h("p", { class: "note" }, e.message)));
    workspace.addEventListener("reason", () => this.#mark());
    this.element.addEventListener("keydown", walk);
    this.element.addEventListener("click", (e) => {
      const { at, node } = e.target.closest("[data-at]")?.dataset ?? {};
      if (at !== undefined) workspace.explain({ doc: this.#made.doc, node, at: at.split(",").filter(Boolean).map(Number) });
    });
  }

  /**
   * ask asks for the values of a node, for show; null where the place is not known before the
   * node is, and of a module, which has none.
   */
  ask(doc, id, signal) {
    if (id.startsWith("m-")) return null;
    const same = doc + " " + id === this.#key;
    if (!same && this.#workspace.view.element) return null;
    if (same) this.#choose();
    return this.#ask(doc, id, same ? this.#at : [], signal);
  }

  async #ask(doc, id, at, signal) {
    const w = this.#workspace;
    const pair = this.#pair(doc);
    const window = { step: w.stepOf(doc), at: at.join(","), rows, cols: columns };
    try {
      const [own, beside] = await Promise.all([
        api.values(doc, id, window, signal),
        pair && api.compareValues({ ...window, a: pair[0].id, b: pair[1].id, node: id, of: doc, level: w.view.level, grad: w.view.grad }, signal),
      ]);
      return { at, own, beside };
    } catch (failed) {
      if (signal.aborted) throw failed;
      return { at, failed };
    }
  }

  /** choose goes to the place that the reader chose, if that is one of this node. */
  #choose() {
    const { element } = this.#workspace.view;
    if (element?.length === this.#axes.length) this.#at = this.#axes.map((a, i) => clamp(element[i], a.size));
  }

  /** show shows what ask gave, or asks now; a place once chosen stays through the steps. */
  show(node, doc, values = null) {
    const key = doc + " " + node.id;
    if (key !== this.#key) {
      fill(this.element);
      this.#frame = "";
      this.#key = key;
      this.#axes = node.axes ?? [];
      this.#at = this.#axes.map(() => 0);
    }
    this.#choose();
    const use = ({ own, beside, failed }) => {
      if (key !== this.#key) return;
      if (failed) {
        this.#latest.failed(failed);
        return;
      }
      this.#made = { node, own, beside, doc };
      this.#draw();
    };
    if (values && this.#at.every((i, axis) => i === (values.at[axis] ?? 0))) {
      this.#latest.stop();
      use(values);
    } else this.#latest.run((signal) => this.#ask(doc, node.id, this.#at, signal), use);
  }

  /** pair is the two documents that are compared, one of them doc; null without a comparison. */
  #pair(doc) {
    const w = this.#workspace;
    if (!w.comparing.length) return null;
    const other = doc === w.doc.id ? this.#drawing.against ?? w.comparing[0] : doc;
    return [w.doc, w.docs.find((d) => d.id === other)];
  }

  /** move shows another part of the values. */
  #move(at, node, doc) {
    this.#at = at;
    const { view } = this.#workspace;
    if (view.selection?.node === node.id && view.selection.doc === doc) { // it may be another by now
      view.element = at;
      this.#workspace.fire("element");
    }
    this.show(node, doc);
  }

  #draw() {
    const { node, own, beside, doc } = this.#made;
    const again = () => this.#draw();
    const side = beside && !beside.none ? this.#side : "own";
    const first = this.#pair(doc)?.[0].id === doc; // whether the node is of A
    const v = side === "own" ? own : side === "difference" ? beside.difference : first ? beside.second : beside.first;
    const frame = JSON.stringify([this.#key, side, first, this.#gradient, v.axes, v.row, v.col, v.fixed, Boolean(own.gradcells), beside && [beside.none, beside.differing, beside.elements]]);
    const table = this.#table(node, v, doc, side);
    if (frame === this.#frame && side !== "difference") {
      become(this.element.querySelector("table"), table);
      return;
    }
    this.#frame = frame;
    const focus = this.element.contains(document.activeElement) ? document.activeElement.dataset.control : null;
    const move = (axis, to) => this.#move(this.#at.map((i, a) => (a === axis ? to : i)), node, doc);
    const page = (span, size, what) => span && span.axis >= 0 && v.axes[span.axis].size > size && h("div", { class: "pager", role: "group", "aria-label": what },
      h("button", { type: "button", "data-control": what + "-", "aria-label": "Previous " + what, disabled: span.from === 0, onclick: () => move(span.axis, Math.max(0, span.from - size)) }, "‹"),
      h("span", {}, `${nameOf(v, span.axis)} ${span.from}–${span.to - 1} of ${v.axes[span.axis].size}`),
      h("button", { type: "button", "data-control": what + "+", "aria-label": "Next " + what, disabled: span.to >= v.axes[span.axis].size, onclick: () => move(span.axis, span.to) }, "›"));
    const fixed = (v.fixed ?? []).map(({ axis, index }) => h("label", { class: "fixed" }, nameOf(v, axis) + " =",
      h("input", { type: "number", "data-control": "axis" + axis, min: "0", max: v.axes[axis].size - 1, value: index, onchange: (e) => move(axis, clamp(+e.target.value, v.axes[axis].size)) })));
    fill(this.element,
      h("div", { class: "head" }, h("h3", {}, "Values"),
        own.gradcells && side === "own" && h("label", { class: "check" }, h("input", { type: "checkbox", "data-control": "grad", checked: this.#gradient, onchange: (e) => {
          this.#gradient = e.target.checked;
          again();
        } }), "with gradient")),
      beside && this.#sides(beside, first, side, again),
      fixed.length > 0 && h("div", { class: "places" }, fixed),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of values" }, table),
      h("div", { class: "places" }, page(v.row, rows, "rows"), page(v.col, columns, "columns")),
      side === "difference" && this.#largest(beside, node, doc));
    if (focus) this.element.querySelector(`[data-control="${focus}"]:not(:disabled)`)?.focus();
  }

  /** sides chooses between the values of A, of B and their difference. */
  #sides(beside, first, side, again) {
    if (beside.none) return h("p", { class: "note" }, "A − B: " + beside.none);
    const choices = first ? [["own", "A"], ["other", "B"], ["difference", "A − B"]] : [["other", "A"], ["own", "B"], ["difference", "A − B"]];
    return h("div", { class: "whose", role: "group", "aria-label": "Whose values" },
      choices.map(([what, title]) => h("button", { type: "button", class: "tool small", "data-control": what, "aria-pressed": String(side === what), onclick: () => {
        this.#side = what;
        again();
      } }, title)),
      h("span", { class: "note" }, beside.differing === 0 ? "equal" : `${beside.differing} of ${beside.elements} differ`));
  }

  #table(node, v, doc, side) {
    const beside = v.gradcells && this.#gradient && side === "own";
    const corner = v.row?.axis >= 0 && v.col?.axis >= 0 ? `${nameOf(v, v.row.axis)} \\ ${nameOf(v, v.col.axis)}` : "";
    const title = { own: "Values", other: "Values in the other model", difference: "Difference A − B" }[side];
    const floats = /^(b?f)\d/.test(node.dtype);
    const place = (r, c) => v.axes.map((_, axis) => (axis === v.row?.axis ? v.row.from + r : axis === v.col?.axis ? v.col.from + c : this.#at[axis]));
    // Of the difference the reason of either side is asked; the own is at hand.
    const cell = (text, name, of, at) => side === "other" || !floats || !of
      ? h("span", { class: name }, written(text))
      : h("button", { type: "button", class: name, tabindex: "-1", title: "Why is this number?", "data-at": at.join(","), "data-node": of, "aria-pressed": String(this.#explains(of, at.join(","))) }, written(text));
    const table = h("table", {},
      h("caption", { class: "unseen" }, `${title} of ${node.label ?? node.name ?? node.id}` + (beside ? ", with the gradient below each" : "")),
      v.col?.axis >= 0 && h("thead", {}, h("tr", {}, h("th", { scope: "col" }, corner), range(v.col).map((i) => h("th", { scope: "col" }, i)))),
      h("tbody", {}, v.cells.map((row, r) => h("tr", {},
        h("th", { scope: "row" }, v.row?.axis >= 0 ? v.row.from + r : ""),
        row.map((text, c) => h("td", { class: odd(text) ? "alarming" : null },
          cell(text, "cell", node.id, place(r, c)), beside && cell(v.gradcells[r][c], "grad", node.partner, place(r, c))))))));
    table.querySelector("[data-at]")?.setAttribute("tabindex", "0");
    return table;
  }

  /** largest lists the elements that differ most. */
  #largest(beside, node, doc) {
    if (!beside.largest.length) return null;
    return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Largest differences" }, h("table", { class: "apart" },
      h("caption", {}, "Largest differences"),
      h("thead", {}, h("tr", {}, ["", "A", "B", "A − B"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, beside.largest.slice(0, 12).map((e) => h("tr", {},
        h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => {
          const page = { [beside.difference.row?.axis]: rows, [beside.difference.col?.axis]: columns };
          this.#move(e.at.map((i, axis) => i - (page[axis] ? i % page[axis] : 0)), node, doc);
          this.#workspace.explain({ doc, node: node.id, at: e.at });
        } }, e.place)),
        [e.a, e.b, e.difference].map((x) => h("td", {}, number(x))))))));
  }

  /** mark shows which element is explained. */
  #mark() {
    for (const b of this.element.querySelectorAll("[data-at]")) b.setAttribute("aria-pressed", String(this.#explains(b.dataset.node, b.dataset.at)));
  }

  /** explains reports whether an element is the one that is explained. */
  #explains(node, at) {
    const { reason } = this.#workspace.view;
    return Boolean(reason) && reason.node === node && reason.at.join(",") === at;
  }
}

/** walk moves the focus among the elements of a table by the arrow keys. */
function walk(event) {
  const way = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const here = event.target.closest("[data-at]");
  if (!way || !here) return;
  const kind = here.classList[0];
  const lines = [...here.closest("tbody").rows].map((r) => [...r.querySelectorAll("[data-at]." + kind)]);
  const r = lines.findIndex((line) => line.includes(here));
  const to = lines[r + way[0]]?.[lines[r].indexOf(here) + way[1]];
  event.preventDefault();
  if (!to) return;
  here.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
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
