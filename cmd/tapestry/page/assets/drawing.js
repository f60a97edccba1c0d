// The drawing in the middle: one sheet, or several side by side when documents are
// compared, kept at one camera and one selection.
import * as api from "./api.js";
import { Caption } from "./caption.js";
import { byID, h, markup } from "./element.js";
import { listen, steer } from "./gestures.js";
import { Minimap } from "./minimap.js";
import { sheetsOf } from "./repaint.js";
import { SheetView } from "./sheet.js";

const deepest = 8; // openings on the way to a node, after which its box must do

/** Drawing shows the workspace's current document, or what it is compared with. */
export class Drawing {
  panes = [];
  #workspace;
  #host = byID("panes");
  #tell;
  #sheets;
  #caption;
  #aligned = !matchMedia("(max-width: 760px)").matches; // two panels side by side need width
  #place = null; // where the camera is to be in the next drawing
  #key = "";
  #against = null; // of the documents that are compared with the first, the one that is drawn with it

  constructor(workspace, tell) {
    this.#workspace = workspace;
    this.#tell = tell;
    this.#caption = new Caption(workspace, this);
    this.#sheets = new api.Latest((e) => this.#undo(e));
    workspace.addEventListener("doc", () => this.#load({}));
    workspace.addEventListener("compare", () => this.#load({}));
    workspace.addEventListener("view", (e) => this.#load({ anchor: e.detail?.item ?? null, keep: Boolean(e.detail?.keep) }));
    workspace.addEventListener("step", () => this.#follow());
    workspace.addEventListener("history", () => this.#follow());
    workspace.addEventListener("selection", () => this.#select());
  }

  get aligned() {
    return this.#aligned;
  }

  /** setAligned draws two compared documents on one sheet, or each on its own; quiet leaves the drawing to what follows. */
  setAligned(yes, quiet = false) {
    if (yes === this.#aligned) return;
    this.#aligned = yes;
    if (quiet) this.#key = "";
    else {
      this.#load({});
      this.#workspace.fire("against");
    }
  }

  /** setAgainst chooses which of several compared documents is drawn with the first; quiet leaves the drawing to what follows. */
  setAgainst(id, quiet = false) {
    this.#against = id;
    if (quiet) return;
    this.#load({});
    this.#workspace.fire("against");
  }

  #isDrawn(id) {
    return this.panes.some((p) => p.view.find((it) => it.id === id && (it.kind === "node" || it.kind === "plate")));
  }

  /** idOf is the id that a node of a document has in the drawing, or null if it is not drawn. */
  #idOf(node, doc) {
    for (const p of this.panes) {
      const it = this.#itemOf(p, node, doc);
      if (it) return it.id;
    }
    return null;
  }

  /** itemOf is where a node of a document is drawn in a pane: of a loop whose step is drawn, a box in that. */
  #itemOf(pane, node, doc) {
    const all = (test) => pane.view.find((o) => (o.kind === "node" || o.kind === "plate") && test(o) && this.#docOf(pane, o) === doc);
    return all((o) => (o.node ?? o.id) === node) ?? all((o) => o.loop === node);
  }

  /** against is the document that is drawn aligned with the first; null if none is. */
  get against() {
    return this.#aligned ? this.#against : null;
  }

  /** main is the view that keys and searches act on. */
  get main() {
    return this.panes[0]?.view ?? null;
  }

  /** fit shows what can be read, and the second time all of it. */
  fit() {
    const whole = this.main?.fitted ?? false;
    this.panes.forEach((p) => p.view.fit(true, whole));
  }

  /** place is what the camera shows, for set place on another screen; null where it is where a new drawing begins. */
  get place() {
    return !this.main?.sheet || this.main.usual ? null : this.main.view;
  }

  /** set place moves the camera in the drawing that is under way or, with none, in the one that is there. */
  set place(place) {
    if (this.#host.hasAttribute("aria-busy")) this.#place = place;
    else this.#go(place);
  }

  #go(place) {
    if (place) this.main.view = place;
    else this.panes.forEach((p) => p.view.fit(false));
  }

  zoom(factor) {
    this.main?.zoom(factor);
  }

  focus() {
    this.panes[0]?.host.focus();
  }

  #follow() {
    const w = this.#workspace;
    const moves = w.view.overlay !== "none" || w.together.some((d) => d.courses?.length); // otherwise nothing drawn depends on the step
    if (moves && w.view.firing === null && w.doc) this.#load({ keep: true });
    else this.panes.forEach((p) => p.view.ask());
  }

  #asDrawn = null; // how what is drawn is looked at

  /** undo keeps what is drawn where no other drawing came of what was asked for, and says why. */
  #undo(e) {
    const w = this.#workspace;
    this.#host.removeAttribute("aria-busy");
    this.#place = null;
    if (this.#asDrawn?.doc === w.doc?.id && this.#asDrawn?.comparing === w.comparing.join()) {
      Object.assign(w.view, this.#asDrawn.look);
      w.fire("kept");
    }
    w.fail(e);
  }

  #load({ anchor = null, keep = false }) {
    const w = this.#workspace;
    byID("empty").hidden = Boolean(w.doc);
    byID("stage").hidden = !w.doc;
    if (!w.doc) {
      this.#sheets.stop();
      this.#key = "";
      return;
    }
    const firing = w.view.firing;
    const ids = firing === null ? [w.doc.id, ...w.comparing] : [w.doc.id];
    const together = firing === null && ids.length > 1 && this.#aligned;
    if (!w.comparing.includes(this.#against)) this.#against = w.comparing[0] ?? null;
    this.#host.setAttribute("aria-busy", "true");
    const started = performance.now();
    this.#sheets.restart(
      (signal) => Promise.all([
        sheetsOf(w, ids, together ? this.#against : null, this.panes.map((p) => p.view.sheet), signal),
        keep && firing === null ? Promise.all(this.panes.map((p) => p.view.speaks && this.#words(p, signal))) : [],
      ]),
      ([sheets, facts]) => {
        const key = [ids, together && this.#against, firing].join();
        this.#arrange(together ? [ids[0]] : ids, together);
        this.#select();
        sheets.forEach((s, i) => {
          if (facts[i]) this.panes[i].words.stop();
          this.panes[i].view.show(s, key === this.#key ? { anchor: i === 0 ? anchor : null, keep: keep || (anchor !== null && i > 0), facts: facts[i] } : {});
        });
        this.#key = key;
        this.#select(true);
        this.#retime();
        if (this.#place) this.#go(this.#place);
        this.#place = null;
        const { level, grad, overlay, open, closed, firing: shown } = w.view;
        this.#asDrawn = { doc: w.doc?.id, comparing: w.comparing.join(), look: { level, grad, overlay, open: new Set(open), closed: new Set(closed), firing: shown } };
        this.#host.removeAttribute("aria-busy");
        this.#host.dataset.drawn = Math.round(performance.now() - started);
        this.#caption.show(sheets[0], together, firing);
        w.fire("drawn", sheets[0]);
      });
  }

  /** arrange makes as many panes as there are sheets. */
  #arrange(ids, together) {
    const w = this.#workspace;
    while (this.panes.length > ids.length) this.panes.pop().host.remove();
    while (this.panes.length < ids.length) this.panes.push(this.#pane(this.panes.length));
    this.panes.forEach((p, i) => {
      p.doc = ids[i];
      p.name.textContent = ids.length > 1 ? w.called(ids[i]) : "";
      p.name.hidden = ids.length === 1;
      p.view.head = ids.length === 1 ? 0 : 40;
      p.host.setAttribute("aria-label", (together ? "Drawing of the comparison with " : "Drawing of ") + w.called(ids[i]));
    });
    this.#host.dataset.panes = ids.length;
  }

  #pane(number) {
    const name = h("p", { class: "pane-name floating" });
    const host = h("div", { class: "pane", tabindex: "0", role: "application", "aria-describedby": "drawing-help" }, name);
    this.#host.append(host);
    const view = new SheetView(host);
    const pane = {
      host, name, view, doc: null, words: new api.Latest((e) => this.#workspace.fail(e)),
    };
    if (number === 0) new Minimap(view, host);
    listen(host, view);
    const pick = (it) => it && this.#pick(pane, it);
    steer(host, view, () => this.fit(), () => this.#item(view), (it) => {
      pick(it);
      if (it) view.reveal(it);
    });
    view.addEventListener("pick", (e) => {
      if (number === 0 || e.detail) pick(e.detail);
      if (!e.detail) this.#workspace.select(null);
    });
    view.addEventListener("toggle", (e) => this.toggle(e.detail));
    view.addEventListener("move", () => {
      for (const other of this.panes) if (other !== pane) other.view.follow(view.camera);
      byID("scale").textContent = Math.round(view.camera.k * 100) + " %";
      this.#workspace.fire("camera");
    });
    view.addEventListener("words", () => this.#say(pane));
    view.addEventListener("hover", (e) => {
      for (const other of this.panes) if (other !== pane) other.view.hover(e.detail);
    });
    return pane;
  }

  #item(view) {
    const id = this.#workspace.view.selection?.id;
    if (!id) return null;
    return view.find((it) => it.id === id && it.kind === "node") ?? view.find((it) => it.id === id && it.kind === "plate");
  }

  #pick(pane, item) {
    if (item.kind === "rule" || item.kind === "heading" || this.#workspace.view.firing !== null) return; // the boxes of a firing are no nodes of the model
    this.#workspace.select({ id: item.id, node: item.node ?? item.id, doc: this.#docOf(pane, item) });
    this.#tell(labelOf(item));
  }

  /** docOf is the document that an item belongs to: the two of a comparison share a sheet. */
  #docOf(pane, item) {
    return item.panel === 2 ? this.#against : pane.doc;
  }

  /** same lists where else the selected thing is drawn: {doc, node, id}. */
  same(selection) {
    const found = [];
    for (const p of this.panes) {
      for (const it of p.view.sheet?.items ?? []) {
        const doc = this.#docOf(p, it);
        if (it.kind === "node" && it.id === selection.id && doc !== selection.doc) found.push({ id: it.id, node: it.node ?? it.id, doc });
      }
    }
    return found;
  }

  /** toggle opens a closed module, or closes an open one by its title. */
  toggle(item) {
    if (!item.path) return;
    const open = item.kind === "node" || item.copies?.length > 0; // blocks that are drawn once are taken apart
    this.#workspace.toggle(item.copies ?? [item.path], open, item, this.main.sheet.modules ?? []);
    this.#tell((open ? "Opened " : "Closed ") + item.path);
  }

  /** toggleModule opens or closes a module by its path, holding on to where it is drawn. */
  toggleModule(path, open) {
    const item = this.main?.find((it) => (it.path === path || it.copies?.includes(path)) && (it.kind === "node" || it.kind === "plate")) ?? null;
    this.#workspace.toggle([path], open, item, this.main?.sheet.modules ?? []);
  }

  /**
   * jump selects a node of a document and brings it into view. Where it is not drawn by itself,
   * what hides it is opened, or else the box that holds it is selected, and the selection says so.
   */
  async jump(node, doc = this.#workspace.doc.id) {
    const w = this.#workspace;
    const mine = (this.#jump = Symbol(node));
    try {
      for (let opened = 0; !this.#goTo((p) => this.#itemOf(p, node, doc)); opened++) {
        const { id } = w.doc;
        const p = await api.place(doc, node, { ...w.sheetParameters(doc), overlay: "" });
        if (this.#jump !== mine || w.doc?.id !== id) return;
        if (p.how === "drawn" && this.#host.hasAttribute("aria-busy") && opened < deepest) await this.#next(() => {});
        else if (opened >= deepest || !this.#uncovers(p, doc)) return this.#settle(p, node, doc);
        else await this.#next(() => this.#uncover(p));
        if (this.#jump !== mine || w.doc?.id !== id) return;
      }
    } catch (e) {
      w.fail(e);
    }
  }

  #jump = null;

  /** goTo selects the box that is found in the first pane that has it, and brings it into view. */
  #goTo(find, selection = null) {
    for (const p of this.panes) {
      const it = find(p);
      if (!it) continue;
      if (selection) this.#workspace.select({ ...selection, id: it.id });
      else this.#pick(p, it);
      p.view.reveal(it);
      return true;
    }
    return false;
  }

  /** uncovers is whether more of what is drawn can be opened towards a place. */
  #uncovers(place, doc) {
    if (doc !== this.#workspace.doc.id || this.against) return place.how === "gradients" || place.how === "level";
    return place.how === "module" || place.how === "gradients" || place.how === "level";
  }

  #uncover(place) {
    const w = this.#workspace;
    if (place.how === "gradients") w.look({ grad: true });
    else if (place.how === "level") w.look({ level: "notes", open: new Set(), closed: new Set() });
    else w.toggle(place.open, true, this.main.find((it) => it.id === place.item), this.main.sheet.modules ?? []);
    this.#tell(place.how === "module" ? "Opened " + place.open.at(-1) : place.how === "level" ? "Drawn at level notes" : "Drawn with gradients");
  }

  /** next changes what is drawn and waits for the drawing. */
  #next(change) {
    return new Promise((resolve) => {
      this.#workspace.addEventListener("drawn", resolve, { once: true });
      change();
    });
  }

  /** settle selects a node that is not drawn by itself, with the box that holds it, if there is one. */
  #settle(place, node, doc) {
    const where = place.item ? `Not drawn by itself at this level: it is in ${place.label || "the box that is marked"}.` : "Not drawn at this level.";
    const selection = { id: null, node, doc, where };
    if (!place.item || !this.#goTo((p) => p.view.find((o) => o.id === place.item && (o.kind === "node" || o.kind === "plate") && this.#docOf(p, o) === doc), selection)) this.#workspace.select(selection);
    this.#tell(where);
  }

  /**
   * light shows nodes of a document, [{node, scope, backward, share}], by their shares in something, from 0
   * to 1; null for none. A closed module shines as its brightest node.
   */
  light(nodes, doc) {
    const of = new Map(nodes?.map((n) => [n.node, n.share]));
    const within = (it) => nodes.filter((n) => n.backward === Boolean(it.backward) && (n.scope === it.path || n.scope.startsWith(it.path + "/"))).reduce((most, n) => Math.max(most, n.share), 0);
    this.panes.forEach((p) => p.view.light(nodes && ((it) => (this.#docOf(p, it) !== doc ? 0 : of.get(it.node ?? it.id) ?? of.get(it.loop) ?? (it.path ? within(it) : 0)))));
  }

  /** select marks what is selected; with refit it is looked for in a new drawing, which then begins there. */
  #select(refit = false) {
    const { selection, firing } = this.#workspace.view;
    if (refit && selection && !this.#isDrawn(selection.id)) {
      selection.id = this.#idOf(selection.node, selection.doc);
    } else refit = false;
    const id = firing === null ? selection?.id ?? null : null;
    this.panes.forEach((p) => {
      p.view.select(id, selection?.doc === this.against ? 2 : 1);
      if (refit && p.view.fitted) p.view.fit(false);
    });
  }

  /** say tells a view what is to be said of its sheet, at the step that is shown. */
  #say(pane) {
    if (this.#workspace.view.firing !== null) return;
    const { sheet } = pane.view;
    pane.words.restart((signal) => this.#words(pane, signal), (facts) => pane.view.sheet === sheet && pane.view.tell(facts));
  }

  /** words asks what is to be said of a pane, for each of its panels. */
  #words(pane, signal) {
    const w = this.#workspace;
    const ids = this.against && this.panes.length === 1 && w.comparing.length ? [pane.doc, this.against] : [pane.doc];
    return Promise.all(ids.map((id) => api.words(id, w.sheetParameters(id), signal)));
  }

  /** retime has what is selected and explained in the step of a loop be of the time that is drawn. */
  #retime() {
    const { view } = this.#workspace;
    const now = (node) => {
      const box = /^(s[\d-]+)@/.exec(node ?? "")?.[1];
      return (box && this.main.find((it) => it.kind === "node" && it.id === box)?.node) ?? node;
    };
    const { selection, reason } = view;
    if (selection && now(selection.node) !== selection.node) {
      selection.node = now(selection.node);
      this.#workspace.fire("selection");
    }
    if (reason && now(reason.node) !== reason.node) this.#workspace.explain({ ...reason, node: now(reason.node) });
  }
}

/** labelOf is what an item is called aloud. */
export function labelOf(item) {
  const label = /aria-label="([^"]*)"/.exec(item.svg) ?? /<title>([^<]*)/.exec(item.svg) ?? /<text[^>]*>([^<]*)/.exec(item.svg);
  return label ? markup(label[1]).textContent : item.label ?? item.id;
}
