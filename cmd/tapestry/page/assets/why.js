// Why an element has its value: what it is made of, back to the data, and what it changes.
import * as api from "./api.js";
import { fill, h } from "./element.js";
import { number } from "./quantity.js";

const about = {
  operands: "What it is made of",
  sources: "Everything behind it, back to the data",
  effects: "What it has to do with the rest",
};

/** Why follows the element that is chosen in the workspace. */
export class Why {
  element = h("section", { class: "why", hidden: true, "aria-label": "Why this number" });
  #workspace;
  #drawing;
  #latest;
  #way = "operands";
  #key = "";
  #drawn = null; // the element that is explained

  constructor(workspace, drawing) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    this.#latest = new api.Latest((e) => this.#say(e.message));
    workspace.addEventListener("reason", () => this.load());
  }

  /** ask asks why the chosen element is what it is, for load; null without one. */
  ask(signal) {
    const { reason } = this.#workspace.view;
    if (!reason) return null;
    const way = this.#wayOf(reason);
    return this.#ask(reason, way, signal).then((why) => ({ reason, way, why }), (failed) => {
      if (signal.aborted) throw failed;
      return { reason, way, failed };
    });
  }

  #ask({ doc, node, at }, way, signal) {
    return api.why(doc, node, { at: at.join(","), step: this.#workspace.stepOf(doc), way, level: this.#workspace.view.level }, signal);
  }

  /** wayOf is how an element is explained: as it was, if it is of the same node. */
  #wayOf({ doc, node }) {
    return [doc, node].join() === this.#key ? this.#way : "operands";
  }

  /** load shows what ask gave, or asks now for the reason of the chosen element, if there is one. */
  load(asked = null) {
    const { reason } = this.#workspace.view;
    if (!reason) {
      if (this.element.hidden) return; // nothing was explained before
      this.#latest.stop();
      this.element.hidden = true;
      this.#drawing.light(null);
      this.#workspace.fire("explained");
      return;
    }
    const { doc, node } = reason;
    this.#way = this.#wayOf(reason);
    this.#key = [doc, node].join();
    this.element.hidden = false;
    const use = (why) => {
      reason.axes = why.axes;
      this.#draw(why, doc);
      this.#workspace.fire("explained");
    };
    if (asked?.reason === reason && asked.way === this.#way) {
      this.#latest.stop();
      if (asked.failed) this.#latest.failed(asked.failed);
      else use(asked.why);
      return;
    }
    if (this.#way !== "operands") this.#say("working…"); // differentiates the whole model
    this.#latest.restart((signal) => this.#ask(reason, this.#way, signal), use);
  }

  #say(text) {
    this.#drawing.light(null);
    fill(this.element, this.#ways(), h("p", { class: "note", role: "status" }, text));
  }

  #ways() {
    return h("div", { class: "actions", role: "group", "aria-label": "How it is explained" },
      Object.entries(about).map(([way, title]) => h("button", { type: "button", class: "tool small", "data-way": way, "aria-pressed": String(way === this.#way), title, onclick: () => {
        this.#way = way;
        this.load();
        this.element.querySelector(`[data-way="${way}"]`)?.focus();
      } }, { operands: "Made of", sources: "Back to data", effects: "Forward" }[way])));
  }

  #draw(w, doc) {
    const focus = this.element.contains(document.activeElement) ? document.activeElement.dataset.way : null;
    const top = Math.max(...w.shares.map((s) => Math.abs(+s.size) || 0), 0);
    this.#drawing.light(w.shares.filter((s) => top > 0 && +s.size).map((s) => ({ ...s, share: +s.size / top })), doc);
    const shares = this.#way === "sources" ? w.shares.filter((s) => s.role !== "op").sort((a, b) => order(b) - order(a)) : w.shares;
    fill(this.element,
      h("h3", {}, "Why is ", h("b", { class: "place" }, `${w.place} = ${number(w.value)}`), "?"),
      this.#ways(),
      w.within && h("p", { class: "note", "data-within": "" }, `Within ${w.within}: by what that step is given.`),
      h("p", { class: "note" }, this.#meaning(shares)),
      shares.map((s) => this.#share(s, doc)),
      h("button", { type: "button", class: "link", onclick: () => this.#workspace.explain(null) }, "close"));
    if (focus) this.element.querySelector(`[data-way="${focus}"]`)?.focus();
    if (this.#workspace.view.reason !== this.#drawn) this.element.scrollIntoView({ block: "nearest" }); // the reader may have scrolled on since
    this.#drawn = this.#workspace.view.reason;
  }

  /** meaning says how the contributions are to be read. */
  #meaning(shares) {
    const some = shares.filter((s) => !s.none);
    if (!shares.length) return { operands: "It is given, not computed.", sources: "Nothing that is trained or fed is behind it.", effects: "Nothing that is drawn is computed from it." }[this.#way];
    const exact = some.some((s) => s.exact);
    const first = some.some((s) => !s.exact);
    return [
      exact && "Exact: terms of a sum.",
      first && (this.#way === "effects" ? "First order: how much the element there grows, per unit, as this one grows by its own size." : "First order: how much it grows, per unit, as the element grows by its own size."),
    ].filter(Boolean).join(" ");
  }

  #share(s, doc) {
    const top = Math.max(...s.parts.map((p) => Math.abs(+p.contribution) || 0), 0);
    const rows = this.#way === "sources" && s.rows.length > 0 ? s.rows : null;
    const list = rows ?? s.parts;
    const most = rows ? Math.max(...rows.map((p) => Math.abs(+p.contribution) || 0), 0) : top;
    return h("div", { class: "share", "data-node": s.node },
      h("div", { class: "head" },
        h("button", { type: "button", class: "link", onclick: () => this.#drawing.jump(s.node, doc) }, s.label),
        s.none ? h("span", { class: "note" }, s.none) : h("span", { class: "note" }, `${s.exact ? "exact" : "first order"}${this.#way === "effects" ? "" : ", in all " + signed(s.total)}`)),
      list.length > 0 && h("ul", { class: "parts" }, list.map((p) => h("li", {},
        h("button", { type: "button", class: "part", disabled: Boolean(rows), title: rows ? "a slice along the first axis" : "why this number?", onclick: () => this.#go(s.node, doc, p.at) },
          h("span", { class: "place" }, rows ? p.place : `${p.place} = ${number(p.value)}`),
          bar(+p.contribution, most),
          h("span", { class: "contribution" }, signed(p.contribution)))))),
      !rows && s.count > list.length && h("p", { class: "note" }, `and ${s.count - list.length} more`));
  }

  /** go asks the same of a part. */
  #go(node, doc, at) {
    this.#drawing.jump(node, doc);
    this.#workspace.explain({ doc, node, at });
  }
}

function order(s) {
  return (s.role === "input" ? 1e300 : 0) + Math.min(1e299, Math.abs(+s.size) || 0);
}

function signed(v) {
  return (+v > 0 ? "+" : "") + number(v);
}

function bar(v, top) {
  const b = h("span", { class: "share-bar " + (v < 0 ? "less" : "more"), "aria-hidden": "true" }, h("i", {}));
  b.firstChild.style.width = (top > 0 ? Math.max(2, (100 * Math.abs(v || 0)) / top) : 0) + "%";
  return b;
}
