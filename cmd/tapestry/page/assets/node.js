// The panel that says everything about the selected node.
import * as api from "./api.js";
import { byID, fill, h, place } from "./element.js";
import { derivation, formula } from "./formula.js";
import { statistics } from "./histogram.js";
import { axes, bytes, count, number, seconds } from "./quantity.js";
import { Values } from "./values.js";
import { Why } from "./why.js";

const measuring = ["precision", "blame"]; // overlays that find out, at each step, what the panel tells as well
const some = 16; // inputs or users that are listed

/** NodePanel follows the selection and the step. */
export class NodePanel {
  #workspace;
  #host = byID("node-panel");
  #drawing;
  #latest;
  #values;
  #why;
  #seen;
  #shown = "";
  #parts = new Map(); // elements by what they say

  /**
   * seen says whether the panel is seen; where it is not, it waits for the events "panels" and
   * "tab".
   */
  constructor(workspace, drawing, seen) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    this.#seen = seen;
    this.#values = new Values(workspace, drawing);
    this.#why = new Why(workspace, drawing);
    this.#latest = new api.Latest((e) => this.#note(e.message));
    // A module may have been opened, and what an overlay shows measured.
    workspace.addEventListener("drawn", () => (measuring.includes(workspace.view.overlay) || this.#host.querySelector(`[data-module], [data-measure="${workspace.view.overlay}"]`)) && this.#move());
    for (const type of ["doc", "selection"]) workspace.addEventListener(type, () => this.#load());
    for (const type of ["step", "history"]) workspace.addEventListener(type, () => this.#move());
    for (const type of ["panels", "tab"]) workspace.addEventListener(type, () => this.#late && this.#move());
  }

  #note(text) {
    this.#shown = "";
    this.#parts.clear();
    fill(this.#host, h("p", { class: "note" }, text));
  }

  #load() {
    const { doc, view } = this.#workspace;
    if (!doc || !view.selection) {
      this.#latest.stop();
      this.#note(doc ? "Click a box of the drawing, or walk to one with Shift and the arrow keys, to read its formula, derivative and values." : "Nothing is open yet.");
      return;
    }
    this.#late = false;
    const { node, doc: of } = view.selection;
    this.#latest.run((signal) => Promise.all([
      api.node(of, node, this.#workspace.stepOf(of), signal),
      this.#values.ask(of, node, signal),
      this.#why.ask(signal),
    ]), ([n, values, why]) => this.#draw(n, values, why, view.selection));
  }

  #late = false; // whether what is said is of another step

  /**
   * move loads what the panel says of another step, once it is seen; what is explained is seen in
   * the drawing too.
   */
  #move() {
    this.#late = !this.#seen() && !this.#workspace.view.reason;
    if (!this.#late) this.#load();
  }

  #draw(n, values, why, selection) {
    const { doc } = selection;
    const key = doc + " " + n.id;
    if (key !== this.#shown) {
      this.#parts.clear();
      this.#host.scrollTop = 0;
    }
    this.#shown = key;
    const jump = (id, label) => h("button", { type: "button", class: "link", onclick: () => this.#drawing.jump(id, doc) }, label ?? n.labels?.[id] ?? id);
    const facts = [
      ["shape", n.axes && axes(n.axes)], ["type", n.dtype], ["role", n.role], ["memory", n.bytes !== undefined && n.bytes !== null && bytes(n.bytes)],
      ["at", n.loops?.map((l) => `${l.path}, t = ${l.time} of 0…${l.steps - 1}`).join("; ")], ["work", !n.loops && n.flops !== undefined && n.flops !== null && count(n.flops) + " flop"], ["time", n.op && !n.loops && (n.time === null ? this.#measure("time") : seconds(n.time))], ["digits lost", n.dtype === "f32" && n.op && !n.loops && (n.digits ? digits(n.digits) : this.#measure("precision"))], ["rule", n.checked], ["made by", n.why], ["scope", n.scope], ["source", n.pos],
    ];
    const links = (title, ids) => ids?.length > 0 && h("div", {}, h("dt", {}, title), h("dd", { class: "links" }, ids.slice(0, some).map((id) => jump(id)), ids.length > some && h("span", { class: "note" }, `and ${ids.length - some} more`)));
    const before = this.#parts;
    this.#parts = new Map();
    const part = (name, says, make) => {
      if (!says) return null;
      const of = name + JSON.stringify(says);
      const made = before.get(of) ?? make();
      this.#parts.set(of, made);
      return made;
    };
    const { comparing } = this.#workspace;
    const module = n.module && this.#drawing.main?.sheet.modules?.find((o) => o.path === n.module.path);
    place(this.#host, [
      part("head", [n.label, n.name, n.op, n.doc, comparing.length > 0 && this.#drawing.same(selection), selection.where], () => h("header", {},
        comparing.length > 0 && this.#among(selection),
        h("h2", {}, n.label ?? n.name ?? n.id),
        h("p", { class: "kind" }, [n.op, n.doc].filter(Boolean).join(": ")),
        selection.where && h("p", { class: "note", "data-where": "" }, selection.where))),
      part("alarm", n.alarm, () => h("p", { class: "alarm", role: "note" }, n.alarm)),
      part("module", n.module && [n.module, module?.open], () => this.#module(n.module, module?.open)),
      part("formula", n.formula?.mathml, () => h("section", {}, h("h3", {}, "Formula"), formula(n.formula))),
      part("derivative", n.derivative?.mathml, () => h("section", {}, h("h3", {}, "Derivative of the loss"), formula(n.derivative))),
      part("how", n.derivative?.mathml, () => h("details", { class: "how", ontoggle: (e) => this.#derive(e.currentTarget, doc, n.id) }, h("summary", {}, "step by step"), h("div", {}))),
      part("partner", n.partner, () => h("p", {}, jump(n.partner, n.backward ? "↔ the value it belongs to" : "↔ its gradient"))),
      n.axes && this.#why.element,
      n.axes && this.#values.element,
      part("stats", n.stats, () => statistics(n.stats, "Distribution")),
      part("gradstats", n.gradstats, () => statistics(n.gradstats, "Distribution of the gradient")),
      part("about", [facts.map(([, v]) => (v instanceof Node ? v.textContent : v)), n.digits, n.inputs, n.users, n.labels], () => h("section", {}, h("h3", {}, "About"),
        h("dl", { class: "facts wide-facts" }, facts.filter(([, v]) => v).map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", { "data-fact": k }, v))), links("inputs", n.inputs), links("used by", n.users)))),
    ].filter(Boolean));
    if (n.axes) this.#values.show(n, doc, values);
    this.#why.load(why);
  }

  /** among says which of the compared documents the node is of, and leads to its like in the others. */
  #among(selection) {
    const w = this.#workspace;
    return h("p", { class: "among" }, h("b", {}, w.called(selection.doc)),
      this.#drawing.same(selection).map((s) => h("button", { type: "button", class: "link", onclick: () => w.select(s) }, "see in " + w.called(s.doc))));
  }

  #module(m, open) {
    return h("section", {},
      h("p", {}, [m.ops !== undefined && count(m.ops) + " operations", m.params && count(m.params) + " parameters", m.nodes !== undefined && count(m.nodes) + " nodes"].filter(Boolean).join(", ")),
      h("button", { type: "button", class: "action", "data-module": m.path, onclick: () => this.#drawing.toggleModule(m.path, !open) }, open ? "Close this module" : "Open this module"));
  }

  /** derive shows how the derivative by a node comes about, once that is asked for. */
  async #derive(details, doc, node) {
    const place = details.lastChild;
    if (!details.open || place.firstChild) return;
    try {
      fill(place, derivation(await api.derivation(doc, node)));
    } catch (e) {
      fill(place, h("p", { class: "note" }, e.message));
    }
  }

  /** measure leads to an overlay whose quantity is measured when it is first drawn. */
  #measure(overlay) {
    return h("button", { type: "button", class: "link", "data-measure": overlay, onclick: () => {
      byID("overlay").value = overlay;
      byID("overlay").dispatchEvent(new Event("change"));
    } }, "measure");
  }
}

/** digits says how many of float32's digits a node loses, where, and why. */
function digits(l) {
  const inherited = Math.max(0, l.lost - l.here);
  return [`${l.lost.toFixed(1)} of 7.2: ${l.here.toFixed(1)} here, ${inherited.toFixed(1)} inherited`, l.cause && h("div", {}, l.cause),
    l.flips > 0 ? h("div", { class: "note" }, `${l.flips} decisions are others than in float64`) : l.lost > 0 && h("div", { class: "note" }, `worst: ${l.worst}, in float64 ${number(l.true)}`)];
}
