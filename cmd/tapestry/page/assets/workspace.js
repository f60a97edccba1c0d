// The workspace: which documents are open, which one is looked at and how. Panels
// listen to its events and never talk to each other.
import * as api from "./api.js";

const patience = 1000; // ms that a step may take to be shown while another one is wanted
const rest = 60; // ms after which a reader who has gone one step looks at it
const changes = new Set(["docs", "doc", "view", "compare", "against", "history"]); // after which a step may look otherwise

/**
 * Workspace fires "docs" when the list of documents changed, "doc" when another one
 * is looked at, "view" when level, gradient, overlay, open modules or times of loops changed,
 * "step" when another training step is to be shown, "shown" with that step as detail when what
 * listeners to "step" asked for is there, "selection" when another node is selected,
 * "element" when another part of its values is, "reason" when another element is to be
 * explained, "explained" when it is, "instruction" when another one of the
 * tape is, "break" when where the tape stops is changed,
 * "camera" when the drawing is moved, "tab" when other details are read, "panels" when
 * panels open, close or change their sizes, "kept" when a
 * drawing was stopped and the one before is kept, "against" when
 * another comparison is drawn, "history" when training went on, "compare" when what is
 * compared changed, "leave" before other documents take the places of those that are shown,
 * and "failure" with the error as detail.
 */
export class Workspace extends EventTarget {
  docs = [];
  comparing = []; // ids of the documents that are compared with the current one
  #current = null;
  #views = new Map();

  /** opener opens documents and brings them to a step. */
  constructor(opener) {
    super();
    this.opener = opener;
    api.whenGone(() => this.#revive());
    for (const type of ["pointerdown", "keydown", "wheel", "input", "change"]) addEventListener(type, () => (this.#used = performance.now()), { capture: true, passive: true });
  }

  get doc() {
    return this.docs.find((d) => d.id === this.#current) ?? null;
  }

  /** called is the title of the document with this id, and the id too where another open one has the same title. */
  called(id) {
    const title = this.docs.find((d) => d.id === id)?.title;
    if (!title) return id;
    return this.docs.some((d) => d.id !== id && d.title === title) ? `${title} (${id})` : title;
  }

  /** view is how the current document is looked at. */
  get view() {
    return this.viewOf(this.#current);
  }

  viewOf(id) {
    if (!this.#views.has(id)) {
      this.#views.set(id, { level: "notes", grad: true, overlay: "none", open: new Set(), closed: new Set(), times: {}, selection: null, element: null, reason: null, breaks: "", step: null, firing: null });
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

  /** shows is the step that is shown, or being brought: the slider may be further on. */
  get shows() {
    return this.#turns ? Math.min(this.#brought, this.last) : this.step;
  }

  stepOf(id) {
    if (this.together.some((d) => d.id === id)) return this.step;
    return this.viewOf(id).step ?? this.docs.find((d) => d.id === id)?.steps ?? 0;
  }

  fire(type, detail) {
    if (changes.has(type)) api.forget();
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
    this.add(doc);
    this.show(doc.id);
    return doc;
  }

  #dropped = new Set(); // ids that were closed here

  async close(id) {
    this.#dropped.add(id);
    this.#views.delete(id);
    const i = this.docs.findIndex((d) => d.id === id);
    this.docs = this.docs.filter((d) => d.id !== id);
    this.comparing = this.comparing.filter((c) => c !== id);
    if (this.#current === id) this.#current = this.docs[Math.min(i, this.docs.length - 1)]?.id ?? null;
    this.fire("docs");
    this.fire("doc");
    try {
      await api.close(id);
    } catch (e) {
      if (e.status !== 404 && e.status !== 410) throw e;
    }
  }

  /** add adds a document that was opened, without looking at it. */
  add(doc) {
    if (this.docs.some((d) => d.id === doc.id)) return;
    this.docs.push(doc);
    this.fire("docs");
  }

  /** restore looks at a document, and at others beside it, as a view says. */
  restore(id, comparing, view) {
    const before = this.viewOf(id);
    const same = id === this.#current && comparing.join() === this.comparing.join();
    const alike = (name) => JSON.stringify([...before[name]]) === JSON.stringify([...view[name]]);
    const drawn = same && ["level", "overlay", "grad", "firing"].every((name) => before[name] === view[name]) && alike("open") && alike("closed") && JSON.stringify(before.times) === JSON.stringify(view.times);
    const step = this.step;
    this.#current = id;
    this.comparing = comparing;
    this.#views.set(id, { ...view });
    for (const other of comparing) this.viewOf(other).step = view.step;
    if (!drawn) {
      this.fire("doc");
      return;
    }
    for (const type of ["selection", "reason", "break"]) this.fire(type);
    if (this.step !== step) this.#turn();
  }

  /**
   * sync takes over what other windows of this server did: documents that they opened, closed
   * or trained. One that is looked at here stays, as closed, and opens again when it is used.
   */
  async sync() {
    const asked = performance.now();
    const standing = new Map((await api.standing()).map((d) => [d.id, d.steps]));
    const here = this.together;
    const before = this.docs;
    this.docs = before.filter((d) => standing.has(d.id) || here.includes(d));
    let changed = this.docs.length < before.length;
    let trained = false;
    for (const d of this.docs) {
      const closed = !standing.has(d.id);
      changed ||= closed !== Boolean(d.closed);
      d.closed = closed;
      if (!closed && standing.get(d.id) > d.steps) {
        d.steps = standing.get(d.id);
        trained = true;
      }
    }
    if (!this.together.some((d) => d.closed)) this.#stood = asked;
    for (const id of standing.keys()) {
      if (this.#dropped.has(id) || this.docs.some((d) => d.id === id)) continue;
      const doc = await api.doc(id).catch(() => null); // it may be closed again
      if (doc) this.add(doc);
      if (doc && !this.doc) this.show(id);
    }
    if (changed) this.fire("docs");
    if (trained) this.fire("history");
  }

  #successors = new Map(); // ids of documents, to those of the documents that took their places
  #reviving = false;
  #used = 0; // when a reader last did something here
  #stood = 0; // when all that is looked at was last known to be open

  /**
   * standing is a selection or a reason in the document that took the place of its own, if one
   * did: the drawing names the old one until it is drawn anew.
   */
  #standing(what) {
    if (!what || !this.#successors.has(what.doc)) return what;
    return this.#standing({ ...what, doc: this.#successors.get(what.doc) });
  }

  /** now is the document that has the place of the one with this id, undefined if there is none any more. */
  now(id) {
    while (this.#successors.has(id)) id = this.#successors.get(id);
    return this.docs.find((d) => d.id === id);
  }

  /**
   * revive opens again, at its step, what is looked at and was closed elsewhere, if it is used: a
   * question of the page's own may have been under way when another window closed it.
   */
  async #revive() {
    if (this.#reviving) return;
    if (this.#used < this.#stood) return void this.sync().catch(() => {}); // the next thing that is done says why
    this.#reviving = true;
    try {
      await this.sync();
      for (const d of this.together.filter((o) => o.closed)) {
        await this.reopen(d, d.steps, this.docs.find((o) => !o.closed && o.identity === d.identity && !this.together.includes(o)));
      }
    } catch (e) {
      this.fail(e);
    } finally {
      this.#reviving = false;
    }
  }

  /** reopen puts a document in the place of one that was open, trained to as many steps: one that is opened anew, or that is given. */
  async reopen(doc, steps, other = null) {
    await this.#replace([doc], [await this.opener.bring(doc.opening, steps, other)], steps);
  }

  /** anew opens documents again, untrained and otherwise than they were opened: all of them, or on an error none. */
  async anew(docs, change) {
    const fresh = [];
    try {
      for (const d of docs) fresh.push(await api.open({ ...d.opening, ...change }));
    } catch (e) {
      for (const d of fresh) await api.close(d.id).catch(() => {});
      throw e;
    }
    this.fire("leave");
    await this.#replace(docs, fresh, 0);
  }

  /** replace puts documents in the places of others, all at once, and closes those. */
  async #replace(docs, fresh, steps) {
    for (const [i, doc] of docs.entries()) {
      const { id } = fresh[i];
      const view = this.viewOf(doc.id);
      this.#views.set(id, Object.assign(view, { step: Math.min(view.step ?? steps, steps) }));
      this.#views.delete(doc.id);
      this.#successors.set(doc.id, id);
      this.docs = this.docs.filter((d) => d.id !== id).map((d) => (d.id === doc.id ? fresh[i] : d));
      this.comparing = this.comparing.map((other) => (other === doc.id ? id : other));
      if (this.#current === doc.id) this.#current = id;
      this.#dropped.add(doc.id);
    }
    for (const v of this.#views.values()) [v.selection, v.reason] = [this.#standing(v.selection), this.#standing(v.reason)];
    this.fire("docs");
    this.fire("doc");
    for (const d of docs) if (!d.closed) await api.close(d.id).catch(() => {}); // it may be closed by now
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
    selection = this.#standing(selection);
    const was = this.view.selection;
    if (was === selection || (was && selection && was.node === selection.node && was.doc === selection.doc)) return;
    this.view.selection = selection;
    this.view.element = null;
    this.fire("selection");
    this.explain(null);
  }

  /** explain chooses an element of a value, {doc, node, at}, whose reason is shown; or null for none. */
  explain(reason) {
    reason = this.#standing(reason);
    if (this.view.reason === reason) return;
    this.view.reason = reason;
    this.fire("reason");
  }

  /** goTo shows another step; what it gives is resolved when that is shown. */
  async goTo(step) {
    const before = this.step;
    const to = Math.max(0, Math.min(this.last, step));
    for (const d of this.together) this.viewOf(d.id).step = to === d.steps ? null : to;
    if (this.step !== before) await this.#turn();
  }

  #turning = null; // the step that is being brought: {stop, done}
  #turns = null; // what ends when no step is
  #brought = 0; // that step, by number
  #due = 0; // the timer for the step that is wanted after it; 0 if there is none

  /**
   * turn shows the step that is wanted: all that shows it asks at once, and changes at once. Steps
   * that are passed meanwhile are left out, so that a slider shows what it passes as fast as that
   * can be, and at last where it stands.
   */
  #turn() {
    if (this.#turns) {
      const turning = this.#turning;
      this.#due ||= setTimeout(() => turning.stop(), patience);
    } else this.#turns = this.#bring();
    return this.#turns;
  }

  async #bring() {
    do {
      clearTimeout(this.#due);
      this.#due = 0;
      clearTimeout(this.#soon);
      const { doc, step } = this;
      this.#brought = step;
      this.#turning = api.together(() => this.fire("step"), () => {
        if (this.doc !== doc) return;
        this.fire("shown", step);
        this.#foresee(step);
      });
      await this.#turning.done;
    } while (this.#due);
    this.#turns = null;
  }

  #was = 0; // the step that was shown before
  #stride = 0; // how far it was to it
  #soon = 0; // the timer for what is asked ahead

  /**
   * foresee has the step asked for ahead that comes next if the reader goes on: at once if the last
   * two were as far apart, after a rest if this is one step further, else none.
   */
  #foresee(step) {
    const stride = step - this.#was;
    const goes = stride === this.#stride;
    [this.#was, this.#stride] = [step, stride];
    const next = step + stride;
    if (stride === 0 || next < 0 || next > this.last || !(goes || Math.abs(stride) === 1)) return;
    this.#soon = setTimeout(() => !this.#due && this.step === step && api.foresee(step, next), goes ? 0 : rest);
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
    const { level, grad, overlay, times } = this.view;
    const own = this.viewOf(id);
    return { level, grad, overlay: overlay === "none" ? "" : overlay, step: this.stepOf(id), open: [...own.open].join(","), closed: [...own.closed].join(","), times: Object.entries(times).filter(([, t]) => t > 0).map(([path, t]) => t + "@" + path).join(",") };
  }
}
