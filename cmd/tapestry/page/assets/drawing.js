// The drawing in the middle: one sheet, or several side by side when documents are
// compared, kept at one camera and one selection.
import * as api from "./api.js";
import { byID, fill, h, markup } from "./element.js";
import { formula } from "./formula.js";
import { listen, steer } from "./gestures.js";
import { legendOf, SheetView } from "./sheet.js";

/** Drawing shows the workspace's current document, or what it is compared with. */
export class Drawing {
  panes = [];
  #workspace;
  #host = byID("panes");
  #tell;
  #sheets;
  #aligned = !matchMedia("(max-width: 760px)").matches; // two panels side by side need width
  #key = "";
  #against = null; // of the documents that are compared with the first, the one that is drawn with it

  constructor(workspace, tell) {
    this.#workspace = workspace;
    this.#tell = tell;
    this.#sheets = new api.Latest((e) => workspace.fail(e));
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

  set aligned(yes) {
    this.#aligned = yes;
    this.#load({});
  }

  /** against is the document that is drawn aligned with the first; null if none is. */
  get against() {
    return this.#aligned ? this.#against : null;
  }

  /** main is the view that keys and searches act on. */
  get main() {
    return this.panes[0]?.view ?? null;
  }

  fit() {
    this.panes.forEach((p) => p.view.fit(true, true));
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
      (signal) => firing !== null
        ? api.firingSheet(w.doc.id, firing, signal).then((s) => [s])
        : together
        ? api.compare({ a: ids[0], b: this.#against, ...w.sheetParameters() }, signal).then((s) => [s])
        : Promise.all(ids.map((id) => api.sheet(id, w.sheetParameters(id), signal))),
      (sheets) => {
        const key = [ids, together && this.#against, firing].join();
        this.#arrange(together ? [ids[0]] : ids, together);
        sheets.forEach((s, i) => this.panes[i].show(s, key === this.#key ? { anchor: i === 0 ? anchor : null, keep: keep || (anchor !== null && i > 0) } : {}));
        this.#key = key;
        this.#host.removeAttribute("aria-busy");
        this.#host.dataset.drawn = Math.round(performance.now() - started);
        this.#describe(sheets, together, firing);
        this.#select();
        w.fire("drawn", sheets[0]);
      });
  }

  /** arrange makes as many panes as there are sheets. */
  #arrange(ids, together) {
    const w = this.#workspace;
    while (this.panes.length > ids.length) this.panes.pop().host.remove();
    while (this.panes.length < ids.length) this.panes.push(this.#pane(this.panes.length));
    this.panes.forEach((p, i) => {
      const doc = w.docs.find((d) => d.id === ids[i]);
      p.doc = ids[i];
      p.name.textContent = ids.length > 1 ? doc?.title ?? "" : "";
      p.name.hidden = ids.length === 1;
      p.view.head = ids.length === 1 ? 0 : 40;
      p.host.setAttribute("aria-label", (together ? "Drawing of the comparison with " : "Drawing of ") + (doc?.title ?? "the model"));
    });
    this.#host.dataset.panes = ids.length;
  }

  #pane(number) {
    const name = h("p", { class: "pane-name floating" });
    const host = h("div", { class: "pane", tabindex: "0", role: "application", "aria-describedby": "drawing-help" }, name);
    this.#host.append(host);
    const view = new SheetView(host);
    const pane = {
      host, name, view, doc: null,
      show: (sheet, how) => view.show(sheet, how),
    };
    listen(host, view);
    const pick = (it) => it && this.#pick(pane, it);
    steer(host, view, () => this.#item(view), (it) => {
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
    });
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
   * jump selects a node of a document and brings it into view; one that is not drawn
   * by itself is only selected.
   */
  jump(node, doc = this.#workspace.doc.id) {
    for (const p of this.panes) {
      const it = p.view.find((o) => (o.node ?? o.id) === node && (o.kind === "node" || o.kind === "plate") && this.#docOf(p, o) === doc);
      if (!it) continue;
      this.#pick(p, it);
      p.view.reveal(it);
      return;
    }
    this.#workspace.select({ id: null, node, doc });
  }

  #select() {
    const { selection, firing } = this.#workspace.view;
    const id = firing === null ? selection?.id ?? null : null;
    this.panes.forEach((p) => p.view.select(id));
  }

  /** others are the compared documents as tabs, of which one is drawn with the first. */
  #others() {
    const w = this.#workspace;
    if (w.comparing.length < 2) return null;
    return h("p", { class: "against", role: "group", "aria-label": "Compared with" }, w.comparing.map((id) => h("button", { type: "button", class: "tool small", "aria-pressed": String(id === this.#against), "data-against": id, onclick: () => {
      this.#against = id;
      this.#load({});
    } }, w.docs.find((d) => d.id === id)?.title ?? id)));
  }

  #describe(sheets, together, firing) {
    const [s] = sheets;
    fill(byID("legend-body"), legendOf(s));
    byID("overlay-scale").textContent = s.scale ? "· " + s.scale : "";
    byID("overlay-scale").hidden = !s.scale;
    fill(byID("difference"), firing !== null && [
      h("p", { class: "summary" }, s.title ?? ""), h("button", { type: "button", class: "link", onclick: () => this.#workspace.look({ firing: null }) }, "Back to the model"),
    ], together && [
      this.#others(),
      h("p", { class: "summary" }, s.sentence ?? ""),
      s.summary && h("p", { class: "note" }, `Against A, ${s.summary}.`),
      s.matching && h("p", { class: "note matching" }, s.matching),
      s.identity && formula(s.identity),
      s.words && h("details", {}, h("summary", {}, "what that means"), h("p", {}, s.words)),
    ]);
    byID("difference").hidden = firing === null && (!together || !(s.summary || s.identity));
  }
}

/** labelOf is what an item is called aloud. */
export function labelOf(item) {
  const label = /aria-label="([^"]*)"/.exec(item.svg) ?? /<title>([^<]*)/.exec(item.svg) ?? /<text[^>]*>([^<]*)/.exec(item.svg);
  return label ? markup(label[1]).textContent : item.label ?? item.id;
}
