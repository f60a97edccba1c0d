// The panel that says everything about the selected node.
import * as api from "./api.js";
import { byID, fill, h, markup } from "./element.js";
import { derivation, formula } from "./formula.js";
import { statistics } from "./histogram.js";
import { axes, bytes, count, number, seconds } from "./quantity.js";
import { Values } from "./values.js";

const some = 16; // inputs or users that are listed

/** NodePanel follows the selection and the step. */
export class NodePanel {
  #workspace;
  #host = byID("node-panel");
  #drawing;
  #latest;
  #values;
  #shown = "";

  constructor(workspace, drawing) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    this.#values = new Values(workspace);
    this.#latest = new api.Latest((e) => this.#note(e.message));
    // A module may have been opened, and times measured.
    workspace.addEventListener("drawn", () => this.#host.querySelector("[data-module], [data-measure]") && this.#load());
    for (const type of ["doc", "selection", "step", "history"]) workspace.addEventListener(type, () => this.#load());
  }

  #note(text) {
    this.#shown = "";
    fill(this.#host, h("p", { class: "note" }, text));
  }

  #load() {
    const { doc, view } = this.#workspace;
    if (!doc || !view.selection) {
      this.#latest.stop();
      this.#note(doc ? "Click a box of the drawing, or walk to one with Shift and the arrow keys, to read its formula, derivative and values." : "Nothing is open yet.");
      return;
    }
    const { node, doc: of } = view.selection;
    this.#latest.run((signal) => api.node(of, node, this.#workspace.stepOf(of), signal), (n) => this.#draw(n, view.selection));
  }

  #draw(n, selection) {
    const { doc } = selection;
    const key = doc + " " + n.id;
    const scroll = key === this.#shown ? this.#host.scrollTop : 0;
    this.#shown = key;
    const jump = (id, label) => h("button", { type: "button", class: "link", onclick: () => this.#drawing.jump(id, doc) }, label ?? n.labels?.[id] ?? id);
    const facts = [
      ["shape", n.axes && axes(n.axes)], ["type", n.dtype], ["role", n.role], ["memory", n.bytes !== undefined && n.bytes !== null && bytes(n.bytes)],
      ["work", n.flops !== undefined && n.flops !== null && count(n.flops) + " flop"], ["time", n.op && (n.time === null ? this.#measure("time") : seconds(n.time))], ["digits lost", n.dtype === "f32" && n.op && (n.digits ? digits(n.digits) : this.#measure("precision"))], ["rule", n.checked], ["made by", n.why], ["scope", n.scope], ["source", n.pos],
    ];
    const links = (title, ids) => ids?.length > 0 && h("div", {}, h("dt", {}, title), h("dd", { class: "links" }, ids.slice(0, some).map((id) => jump(id)), ids.length > some && h("span", { class: "note" }, `and ${ids.length - some} more`)));
    fill(this.#host,
      h("header", {},
        this.#workspace.comparing.length > 0 && this.#among(selection),
        h("h2", {}, n.label ?? n.name ?? n.id),
        h("p", { class: "kind" }, [n.op, n.doc].filter(Boolean).join(": "))),
      n.alarm && h("p", { class: "alarm", role: "note" }, n.alarm),
      n.module && this.#module(n),
      n.formula?.mathml && h("section", {}, h("h3", {}, "Formula"), formula(n.formula)),
      n.derivative?.mathml && h("section", {}, h("h3", {}, "Derivative of the loss"), formula(n.derivative)),
      n.derivative?.mathml && h("details", { class: "how", ontoggle: (e) => this.#derive(e.currentTarget, doc, n.id) }, h("summary", {}, "step by step"), h("div", {})),
      n.partner && h("p", {}, jump(n.partner, n.backward ? "↔ the value it belongs to" : "↔ its gradient")),
      n.axes && this.#values.element,
      statistics(n.stats, "Distribution"),
      statistics(n.gradstats, "Distribution of the gradient"),
      h("section", {}, h("h3", {}, "About"),
        h("dl", { class: "facts wide-facts" }, facts.filter(([, v]) => v).map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", { "data-fact": k }, v))), links("inputs", n.inputs), links("used by", n.users))));
    this.#host.scrollTop = scroll;
    if (n.axes) this.#values.show(n, doc);
  }

  /** among says which of the compared documents the node is of, and leads to its like in the others. */
  #among(selection) {
    const title = (id) => this.#workspace.docs.find((d) => d.id === id)?.title ?? id;
    return h("p", { class: "among" }, h("b", {}, title(selection.doc)),
      this.#drawing.same(selection).map((s) => h("button", { type: "button", class: "link", onclick: () => this.#workspace.select(s) }, "see in " + title(s.doc))));
  }

  #module(n) {
    const m = n.module;
    const open = this.#drawing.main?.sheet.modules?.find((o) => o.path === m.path)?.open;
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
