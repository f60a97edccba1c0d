// The workspace: which documents are open, which one is looked at and how. Panels
// listen to its events and never talk to each other.
import * as api from "./api.js";

/**
 * Workspace fires "docs" when the list of documents changed, "doc" when another one
 * is looked at, "view" when level, gradient, overlay or open modules changed,
 * "step" when another training step is shown, "selection" when another node is,
 * "history" when training went on, "compare" when what is compared changed, and
 * "failure" with the error as detail.
 */
export class Workspace extends EventTarget {
  docs = [];
  comparing = []; // ids of the documents that are compared with the current one
  #current = null;
  #views = new Map();

  get doc() {
    return this.docs.find((d) => d.id === this.#current) ?? null;
  }

  /** view is how the current document is looked at. */
  get view() {
    return this.viewOf(this.#current);
  }

  viewOf(id) {
    if (!this.#views.has(id)) {
      this.#views.set(id, { level: "notes", grad: true, overlay: "none", open: new Set(), closed: new Set(), selection: null, step: null, firing: null });
    }
    return this.#views.get(id);
  }

  /** together are the documents that are shown at one step: the current one and what it is compared with. */
  get together() {
    return [this.#current, ...this.comparing].map((id) => this.docs.find((d) => d.id === id)).filter(Boolean);
  }

  /** last is the last step that all of them have. */
  get last() {
    const all = this.together;
    return all.length ? Math.min(...all.map((d) => d.steps ?? 0)) : 0;
  }

  /** step is the training step that is shown: the last common one unless another is chosen. */
  get step() {
    return this.doc ? Math.min(this.view.step ?? Infinity, this.last) : 0;
  }

  stepOf(id) {
    if (this.together.some((d) => d.id === id)) return this.step;
    return this.viewOf(id).step ?? this.docs.find((d) => d.id === id)?.steps ?? 0;
  }

  fire(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  fail(error) {
    this.fire("failure", error);
  }

  async refresh() {
    this.docs = await api.docs();
    if (!this.doc) {
      const [first, ...others] = this.docs.filter((d) => d.named).map((d) => d.id);
      if (others.length) [this.#current, this.comparing] = [first, others]; // models that were named together are compared
      else this.#current = this.docs.at(-1)?.id ?? null;
    }
    this.comparing = this.comparing.filter((id) => id !== this.#current && this.docs.some((d) => d.id === id));
    this.fire("docs");
    this.fire("doc");
  }

  /** open opens a model or a text and looks at it. */
  async open(what) {
    const doc = await api.open(what);
    this.docs.push(doc);
    this.fire("docs");
    this.show(doc.id);
    return doc;
  }

  async close(id) {
    try {
      await api.close(id);
    } catch (e) {
      if (e.status !== 404 && e.status !== 410) throw e;
    }
    this.#views.delete(id);
    const i = this.docs.findIndex((d) => d.id === id);
    this.docs = this.docs.filter((d) => d.id !== id);
    this.comparing = this.comparing.filter((c) => c !== id);
    if (this.#current === id) this.#current = this.docs[Math.min(i, this.docs.length - 1)]?.id ?? null;
    this.fire("docs");
    this.fire("doc");
  }

  show(id) {
    this.#current = id;
    this.comparing = [];
    this.fire("doc");
  }

  look(change, detail) {
    Object.assign(this.view, change);
    this.fire("view", detail);
  }

  /**
   * toggle opens or closes modules; item is where they were drawn, modules those of
   * the drawing: what is open by itself stays open when the first is toggled by hand.
   */
  toggle(paths, open, item, modules) {
    const { open: opened, closed } = this.view;
    if (opened.size + closed.size === 0) {
      for (const m of modules) if (m.open) opened.add(m.path);
    }
    for (const path of paths) {
      if (open) {
        closed.delete(path);
        opened.add(path);
      } else {
        for (const p of [...opened]) if (p === path || p.startsWith(path + "/")) opened.delete(p);
        closed.add(path);
      }
    }
    this.fire("view", { item });
  }

  /**
   * select selects a node: {id, node, doc}, the id that it has in the drawing, the one
   * by which the server knows it, and its document; or null for none.
   */
  select(selection) {
    const was = this.view.selection;
    if (was === selection || (was && selection && was.node === selection.node && was.doc === selection.doc)) return;
    this.view.selection = selection;
    this.fire("selection");
  }

  goTo(step) {
    const before = this.step;
    const to = Math.max(0, Math.min(this.last, step));
    for (const d of this.together) this.viewOf(d.id).step = to === d.steps ? null : to;
    if (this.step !== before) this.fire("step");
  }

  /** trained notes that a document has been trained up to a step. */
  trained(id, steps) {
    const doc = this.docs.find((d) => d.id === id);
    if (!doc) return;
    doc.steps = steps;
    this.fire("history");
  }

  compare(ids) {
    this.comparing = ids;
    this.fire("compare");
  }

  /** sheetParameters is what the server is to draw of a document. */
  sheetParameters(id = this.#current) {
    const { level, grad, overlay } = this.view;
    const own = this.viewOf(id);
    return { level, grad, overlay: overlay === "none" ? "" : overlay, step: this.stepOf(id), open: [...own.open].join(","), closed: [...own.closed].join(",") };
  }
}
