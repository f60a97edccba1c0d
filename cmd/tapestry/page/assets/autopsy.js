// The autopsy: where a training step stopped being finite, and why.
import * as api from "./api.js";
import { byID, fill, h } from "./element.js";

/** AutopsyPanel appears where a training step is not finite. */
export class AutopsyPanel {
  #workspace;
  #drawing;
  #host = byID("autopsy-panel");
  #tab = byID("tab-autopsy");
  #open;
  #latest;
  #ended = new Map(); // by document: the step at which its training stopped

  /** open shows a panel of the tabs by its id. */
  constructor(workspace, drawing, open) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    this.#open = open;
    this.#latest = new api.Latest((e) => workspace.fail(e));
    for (const type of ["doc", "view", "step", "history"]) workspace.addEventListener(type, () => this.#look());
    workspace.addEventListener("selection", () => this.#say());
  }

  /**
   * stopped looks at a document whose training ended with an error: where its step is
   * not finite, it is drawn with the way there, and true is given.
   */
  async stopped(id) {
    const steps = this.#workspace.docs.find((d) => d.id === id)?.steps ?? 0;
    const found = await api.autopsy(id, steps).catch(() => null);
    if (!found || found.finite || this.#workspace.doc?.id !== id) return false;
    this.#ended.set(id, steps);
    if (this.#workspace.step !== found.step) this.#workspace.goTo(found.step);
    this.#flown = id; // it is flown to here
    this.#workspace.addEventListener("drawn", () => this.#fly(found), { once: true });
    this.#workspace.look({ overlay: "nan" }, { keep: true });
    this.#show(found);
    this.#open("autopsy-panel");
    return true;
  }

  /** look follows the step while the overlay asks for what is not finite. */
  #look() {
    const { doc, view, step } = this.#workspace;
    if (!doc || view.overlay !== "nan") {
      this.#latest.stop();
      this.#flown = null;
      this.#hide();
      return;
    }
    this.#latest.run((signal) => api.autopsy(doc.id, step, signal), (f) => {
      if (f.finite) {
        this.#hide();
        return;
      }
      this.#show(f);
      if (this.#flown !== doc.id) this.#fly(f);
    });
  }

  #flown = null; // the document in which the first value that is not finite was flown to
  #where = h("p", { class: "note", role: "status" });

  /** fly brings the first value that is not finite into view. */
  #fly(f) {
    const { doc } = this.#workspace;
    if (!doc || !f.at.node) return;
    this.#flown = doc.id;
    this.#drawing.jump(f.at.node, doc.id);
  }

  /** say tells where the drawing has the value that was jumped to, if it is no box. */
  #say() {
    this.#where.textContent = this.#workspace.view.selection?.where ?? "";
    this.#where.hidden = !this.#where.textContent;
  }

  #hide() {
    if (!this.#host.hidden) this.#open("node-panel");
    this.#tab.hidden = true;
    fill(this.#host);
  }

  #show(f) {
    const ended = this.#ended.get(this.#workspace.doc.id);
    const title = ended === undefined ? `Step ${f.step} is not finite` : `Training stopped at step ${ended}` + (f.step < ended ? `: step ${f.step} is not finite` : "");
    this.#tab.hidden = false;
    fill(this.#host, h("p", { class: "alarm", role: "alert" }, h("b", {}, title), h("br"), f.cause + (f.harmless ? ". Every result is finite all the same." : ".")), this.#where, this.#finding(f));
    this.#say();
  }

  #finding(f) {
    const { doc } = this.#workspace;
    const entry = (e) => [e.node ? h("button", { type: "button", class: "link", "data-entry": e.node, onclick: () => this.#drawing.jump(e.node, doc.id) }, e.text) : h("span", {}, e.text), h("span", { class: "note" }, " " + [e.op, e.pos].filter(Boolean).join(", "))];
    const operands = (list) => h("ul", {}, list.map((o, i) => h("li", {}, o.entries.map((e) => h("div", {}, entry(e))), o.of > o.entries.length && h("span", { class: "note" }, `the most telling of ${o.of} elements of operand ${i + 1}`))));
    const part = (name, title, ...content) => h("section", { "data-part": name }, h("h3", {}, title), content);
    const path = f.path.slice(1);
    return [
      part("first", "① First value that is not finite", entry(f.at)),
      f.witness.length > 0 && part("witness", "Computed of", operands(f.witness)),
      path.length > 0 && part("path", "Back to the first suspicious value", h("ol", {}, path.map((e) => h("li", {}, entry(e))))),
      path.length > 0 && f.made.length > 0 && part("made", "Which is computed of", operands(f.made)),
      f.twin && part("twin", "It is the derivative of", entry(f.twin)),
      f.carried.length > 1 && part("carried", `It spoils ${f.spoiled} nodes, on the way to the result`, h("ol", {}, f.carried.map((e) => h("li", {}, entry(e))))),
      f.inside && [h("h3", {}, `In the loop, at its step ${f.time}`), this.#finding(f.inside)],
      f.cure && part("cure", f.cure.works ? "What helps: compiling with these rules was tried" : "What was tried and does not help", h("ul", {}, f.cure.rules.map((r) => h("li", {}, h("b", {}, r.rule), h("span", { class: "note" }, " " + r.why), h("p", { class: "plain-formula" }, `${r.before} → ${r.after}`)))),
        h("p", {}, `${f.cure.result} becomes ${f.cure.after}`)),
    ];
  }
}
