// The page's URL follows what is shown, and what is shown follows the URL: Back undoes a
// move to another document, node, level or comparison, a reload restores, and a link opens
// the same elsewhere.
import { decode, encode } from "./address.js";
import { byID, fill, h } from "./element.js";

const pause = 150; // ms without a change, after which the URL says what is shown

/** Link keeps the URL. drawing, tabs: {get, show}, told, tape and runs are parts of the page. */
export class Link {
  #workspace;
  #drawing;
  #tabs;
  #told;
  #opener;
  #timer = 0;
  #last = null; // the state that waits to be written
  #written = ""; // what the URL says
  #writing = Promise.resolve();
  #following = 0; // how many times the page was told to follow the URL
  #tape;
  #runs;
  #still = true; // the page follows the URL, or has not begun

  constructor(workspace, opener, drawing, tabs, told, tape, runs) {
    this.#tape = tape;
    this.#runs = runs;
    runs.changed = () => this.#note(false);
    this.#workspace = workspace;
    this.#opener = opener;
    this.#drawing = drawing;
    this.#tabs = tabs;
    this.#told = told;
    for (const type of ["doc", "selection", "compare", "against"]) workspace.addEventListener(type, () => this.#note(true));
    workspace.addEventListener("view", (e) => this.#note(!e.detail?.keep));
    for (const type of ["step", "history", "camera", "element", "reason", "break", "tab", "docs", "instruction"]) workspace.addEventListener(type, () => this.#note(false));
    workspace.addEventListener("leave", () => this.#leave());
    addEventListener("popstate", () => this.follow(location.hash).catch((e) => workspace.fail(e)));
    byID("copy-link").addEventListener("click", () => this.copy());
    workspace.addEventListener("doc", () => (byID("copy-link").disabled = !workspace.doc));
  }

  /** begin follows the URL that the page was opened with, and keeps it from then on. */
  async begin() {
    if (location.hash) await this.follow(location.hash);
    this.#still = false;
    this.#note(false);
  }

  /** copy puts a link to what is shown on the clipboard, or shows it where that is not allowed. */
  async copy() {
    await this.#flush();
    const made = location.protocol === "blob:"; // of a text, by the page around it: nobody else has that address
    const href = made ? location.hash : location.href;
    try {
      await navigator.clipboard.writeText(href);
      this.#told(made ? "Copied. It opens the same behind the address of any Tapestry page." : "Link copied. What follows # opens the same on any Tapestry page.");
    } catch {
      const field = byID("link-text");
      field.value = href;
      byID("link-dialogue").showModal();
      field.select();
    }
  }

  // From the page to the URL.

  #state() {
    const state = this.#models();
    const runs = this.#runs.state;
    return runs ? { ...state, docs: state?.docs ?? [], beside: state?.beside ?? [], runs } : state;
  }

  /** models is what is shown of the models, null without one. */
  #models() {
    const w = this.#workspace;
    const { view } = w;
    const index = (id) => w.docs.findIndex((d) => d.id === id);
    if (!w.doc) return null;
    return {
      docs: w.docs.map((d) => ({ opening: d.opening ?? {}, identity: d.identity, steps: d.steps })),
      at: index(w.doc.id), beside: w.comparing.map(index), against: index(this.#drawing.against ?? w.comparing[0]), aligned: this.#drawing.aligned,
      step: w.step === w.last ? null : w.step, level: view.level, overlay: view.overlay, grad: view.grad, open: [...view.open], closed: [...view.closed], times: view.times,
      node: view.selection?.node ?? null, drawn: view.selection?.id ?? null, of: view.selection ? index(view.selection.doc) : -1, element: view.element, why: view.reason && view.reason.doc === view.selection?.doc ? [view.reason.node, ...view.reason.at] : null, tab: this.#tabs.get(),
      breaks: view.breaks, firing: view.firing, camera: this.#drawing.place, instruction: this.#tape.instruction,
    };
  }

  /** note lets the URL say what is shown, soon; a move is what Back undoes. */
  #note(move) {
    if (this.#still) return;
    if (move) {
      this.#flush(); // what was shown before, as it was left
      this.#write(this.#state(), true);
      return;
    }
    this.#last = this.#state();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#flush(), pause);
  }

  /** leave keeps what is shown for Back, whatever comes in its place. */
  #leave() {
    if (this.#still) return;
    this.#flush();
    this.#writing = this.#writing.then(() => this.#written && history.pushState(null, "", this.#written));
  }

  #flush() {
    clearTimeout(this.#timer);
    if (this.#last) this.#write(this.#last, false);
    this.#last = null;
    return this.#writing;
  }

  /** write puts a state in the URL, one after the other: packing a text takes a moment. */
  #write(state, move) {
    this.#writing = this.#writing.then(async () => {
      const address = state ? "#" + await encode(state) : location.href.split("#")[0];
      if (address === this.#written) return;
      history[move && this.#written ? "pushState" : "replaceState"](null, "", address);
      this.#written = address;
    }).catch((e) => this.#workspace.fail(e));
  }

  // From the URL to the page.

  /** follow shows what an address says. What of it cannot be had is told, and the rest is shown. */
  async follow(address) {
    const turn = ++this.#following;
    const state = await decode(address);
    if (!state) return;
    this.#still = true;
    clearTimeout(this.#timer);
    this.#last = null;
    const w = this.#workspace;
    const missing = [];
    try {
      const docs = [];
      for (const d of state.docs) docs.push(await this.#find(d, missing));
      if (turn !== this.#following) return;
      const shown = docs[state.at] ?? docs.find(Boolean);
      if (shown) {
        const ids = (list) => list.map((i) => docs[i]?.id).filter((id) => id && id !== shown.id);
        const selected = docs[state.of];
        const selection = state.node !== null && selected ? { id: state.drawn, node: state.node, doc: selected.id } : null;
        const step = state.step ?? Math.min(...[state.at, ...state.beside].map((i) => state.docs[i].steps));
        if (docs[state.against]) this.#drawing.setAgainst(docs[state.against].id, true);
        this.#drawing.setAligned(state.aligned, true);
        this.#tape.begin(shown.id, state.instruction);
        this.#tabs.show(state.tab);
        w.restore(shown.id, ids(state.beside), {
          level: state.level, overlay: state.overlay, grad: state.grad, open: new Set(state.open), closed: new Set(state.closed), times: state.times,
          selection, element: state.element, reason: state.why && selection ? { doc: selection.doc, node: state.why[0], at: state.why.slice(1).map(Number) } : null, breaks: state.breaks, firing: state.firing, step,
        });
        this.#drawing.place = state.camera;
      }
      if (state.runs) this.#runs.restore(state.runs);
      else if (this.#runs.shown) this.#runs.show(false);
      this.#written = address;
      if (missing.length) {
        fill(byID("missing-list"), missing.map((text) => h("li", {}, text)));
        byID("missing").hidden = false;
      }
    } finally {
      if (turn === this.#following) this.#still = false;
    }
  }

  /** find gives the document that a link means: one that is open, or opened now, brought to the step that the link has. */
  async #find(d, missing) {
    const w = this.#workspace;
    const open = w.docs.find((o) => d.identity && o.identity === d.identity);
    const name = d.opening.model ?? d.opening.name ?? "a model";
    try {
      const doc = await this.#opener.bring(d.opening, d.steps, open);
      if (!open) w.add(doc);
      if (d.identity && doc.identity !== d.identity) missing.push(`${doc.title}: the link was made with other data or another version, so its numbers may differ`);
      if (doc.steps < d.steps) missing.push(`${doc.title}: the link is of a training of ${d.steps} steps, and this one has ${doc.steps}`);
      return doc;
    } catch (e) {
      missing.push(`${name}: ${e.message}`);
      return open ?? null;
    }
  }
}
