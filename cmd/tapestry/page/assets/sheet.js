// A sheet in a window: only what is in or near the window is in the document, and a
// gesture moves one layer without touching anything in it.
import { boxOf, centreOf, covers } from "./box.js";
import { centred, fitted, inside, readable, smallest } from "./camera.js";
import { calm } from "./element.js";
import { glide, places } from "./glide.js";
import { Grid } from "./grid.js";
import { Layer } from "./layer.js";
import { marks } from "./marks.js";
import { Words } from "./words.js";

const margin = 0.35; // of the window, on each side, that is ready for a gesture
const settled = 130; // ms after the last change of scale, when it is drawn sharply
const least = 0.02;
const most = 4;
const strip = 0.5; // of the window's width, that two tall models on one sheet have at least
const tall = 1600; // height of a sheet, in pixels at full size, that no window has

/**
 * SheetView shows a sheet. It fires "pick" with the item that was clicked, or null,
 * "toggle" with the item of a module, "hover", "move" when its camera moved, "placed" when
 * what is seen follows it, and "words" when it wants to be told what is to be said of the sheet.
 */
export class SheetView extends EventTarget {
  sheet = null;
  head = 0; // pixels above a fitted drawing that something else needs
  camera = { x: 0, y: 0, k: 1 }; // the sheet's point at the window's corner, and the scale
  arrangement = 0; // by number: another one when things are in other places
  #host;
  #room = null; // the size of the window
  #layer;
  #words;
  #grid = null;
  #boxes = [];
  #loaded = null; // the sheet that they are of
  #drawn = { k: 0, region: null }; // what the layer holds
  #frame = 0;
  #flight = 0; // of the camera, by number
  #timer = 0;
  #selected = null;
  #panel = 1; // of what is selected
  #hovered = null;
  #found = new Set();
  #lit = null;
  #wanted = null; // the view that was asked for, until another is
  #fitted = true; // nobody moved the camera since it was fitted
  #fittedFor = null; // what was selected then: a window of another size is fitted anew unless something was selected since
  #smallest = readable; // text of the sheet
  #paired = false; // two models are drawn on it

  constructor(host) {
    super();
    this.#host = host;
    this.#layer = new Layer(host);
    this.#words = new Words(host);
    this.#words.addEventListener("asked", () => this.dispatchEvent(new Event("words")));
    addEventListener("themechange", () => this.sheet && this.#commit()); // a canvas has no classes
    new ResizeObserver(() => {
      this.#room = null;
      if (!this.sheet) return;
      if (this.#wanted) this.view = this.#wanted;
      else if (this.#fitted && (!this.#picked() || this.#selected === this.#fittedFor)) this.fit(false);
      else this.#hold();
    }).observe(host);
  }

  /**
   * show replaces the sheet. With keep the camera stays; with anchor, an item of the
   * sheet before, the same thing stays where it is on the screen and what moves does
   * so visibly. What is to be said of it may be given as facts, as to tell.
   */
  show(sheet, { keep = false, anchor = null, facts = null } = {}) {
    const before = this.sheet && anchor ? places(this.sheet, this.#layer.shown) : null;
    const held = anchor && { box: boxOf(anchor), camera: { ...this.camera } };
    this.sheet = sheet;
    if (!keep) this.#room = null;
    this.#load(sheet, keep || anchor, facts);
    if (held) {
      const same = this.find((it) => it.panel === anchor.panel && it.id === anchor.id && (it.kind === "plate" || it.kind === "node")) ??
        this.find((it) => it.id === anchor.id);
      if (same) {
        const b = boxOf(same);
        this.camera.x += b.x - held.box.x;
        this.camera.y += b.y - held.box.y;
      }
      this.#fitted = false;
    } else if (!keep) {
      this.fit(false);
    }
    this.#commit();
    if (before && held && !calm()) glide(this.sheet, this.#layer.shown, before, held.camera, this.camera);
  }

  /**
   * load takes a sheet, of which only what looks otherwise is new where it has the same things in
   * the same places.
   */
  #load(sheet, kept, facts) {
    const was = this.#loaded;
    this.#loaded = sheet;
    const boxes = sheet.items.map((it, i) => (it === was?.items[i] ? this.#boxes[i] : boxOf(it)));
    const still = this.#layer.load(sheet) && kept && boxes.every((b, i) => b === this.#boxes[i] || ["x", "y", "w", "h"].every((part) => b[part] === this.#boxes[i][part])) &&
      sheet.items.every((it, i) => it === was.items[i] || it.label === was.items[i].label);
    if (still) {
      if (facts) this.#words.tell(facts);
      else this.#words.ask();
      return;
    }
    this.arrangement++;
    this.#boxes = boxes;
    this.#smallest = smallest(sheet);
    this.#paired = sheet.items.some((it) => it.panel === 2);
    this.#grid = new Grid(boxes);
    this.#words.load(sheet, kept);
    if (facts) this.#words.tell(facts);
    this.#drawn = { k: 0, region: null };
  }

  /** tell takes what is to be said of the sheet, for each of its panels. */
  tell(facts) {
    this.#words.tell(facts);
    this.#say();
  }

  /** speaks is whether words are seen for which facts were asked. */
  get speaks() {
    return this.#words.speaks;
  }

  /** ask wants to be told anew. */
  ask() {
    this.#words.ask();
    if (this.sheet) this.#say();
  }

  find(test) {
    return this.sheet?.items.find(test) ?? null;
  }

  /** fitted reports whether the camera is where fit put it. */
  get fitted() {
    return this.#fitted;
  }

  /**
   * fit shows all of the sheet or, where its text could not be read then, as much as can
   * be, beginning at what is selected or at the result; whole shows all of it, however small. Two
   * tall models on one sheet are seen both, from their beginnings on where all would be a narrow
   * strip: words say what is too small to be read.
   */
  fit(smooth = true, whole = false) {
    this.#room = null;
    const to = this.#fit(whole);
    if (!to) return;
    this.#go(to, smooth);
    this.#fitted = true;
    this.#fittedFor = this.#selected;
  }

  /** usual reports whether the camera is where fit would put it now. */
  get usual() {
    const to = this.#fit(false);
    const { x, y, k } = this.camera;
    return Boolean(to) && Math.abs(to.x - x) * k < 1 && Math.abs(to.y - y) * k < 1 && Math.abs(to.k / k - 1) < 1e-3;
  }

  #fit(whole) {
    if (!this.sheet || !this.size.w || !this.size.h) return null;
    const picked = this.#picked();
    const least = whole ? 0 : readable / this.#smallest;
    if (!picked && this.#paired && this.sheet.height > tall) return fitted(this.sheet, this.size, null, { head: this.head, least: Math.min(least, this.size.w * strip / this.sheet.width) });
    const from = picked ?? this.#result();
    return fitted(this.sheet, this.size, from && boxOf(from), { head: this.head, least });
  }

  /**
   * size is that of the window, which is measured once: to measure it makes the browser lay out
   * the page.
   */
  get size() {
    return (this.#room ??= { w: this.#host.clientWidth, h: this.#host.clientHeight });
  }

  /** result is the node of the loss, or of what else the model gives. */
  #result() {
    return this.find((it) => it.kind === "node" && (it.role === "loss" || it.role === "output")) ?? this.find((it) => it.kind === "node");
  }

  /** picked is the item that is selected, if it is drawn. */
  #picked() {
    if (!this.#selected) return null;
    const found = this.sheet?.items.filter((it) => it.id === this.#selected && (it.kind === "node" || it.kind === "plate")) ?? [];
    return found.find((it) => it.panel === this.#panel && it.kind === "node") ?? found.find((it) => it.kind === "node") ?? found[0] ?? null;
  }

  /** hold keeps what is selected in view when the window changed. */
  #hold() {
    const item = this.#picked();
    if (item) {
      this.camera = inside(boxOf(item), this.camera, this.size);
      this.dispatchEvent(new Event("move"));
    }
    this.#commit();
  }

  /** zoom scales about a point of the window, by default what is selected and in view, or the middle. */
  zoom(factor, at) {
    const { w, h } = this.size;
    const { x, y, k } = this.camera;
    const item = at ? null : this.#picked();
    const held = item && centreOf(this.toWindow(item));
    const keeps = held && held.x > 0 && held.y > 0 && held.x < w && held.y < h;
    const { x: px, y: py } = at ?? (keeps ? held : { x: w / 2, y: h / 2 });
    const to = Math.min(most, Math.max(least, k * factor));
    const camera = { x: x + px / k - px / to, y: y + py / k - py / to, k: to };
    this.#fitted = false;
    this.#move(keeps ? inside(boxOf(item), camera, this.size) : camera);
  }

  /** pan moves what is seen, by pixels of the window. */
  pan(dx, dy) {
    const { x, y, k } = this.camera;
    this.#fitted = false;
    this.#move({ x: x - dx / k, y: y - dy / k, k });
  }

  /** follow takes another view's camera without telling anyone. */
  follow(camera) {
    this.#fitted = false;
    this.#move({ ...camera }, true);
  }

  /** view is what the camera shows, by the sheet's point in the middle, so that windows of another size show it too. */
  get view() {
    const r = this.#window();
    return { ...centreOf(r), k: this.camera.k };
  }

  set view({ x, y, k }) {
    const { w, h } = this.size;
    this.#fitted = false;
    this.#move({ x: x - w / k / 2, y: y - h / k / 2, k });
    this.#wanted = { x, y, k };
  }

  /** look brings a point of the sheet into the middle of the window. */
  look({ x, y }) {
    const { k } = this.camera;
    const { w, h } = this.size;
    this.#fitted = false;
    this.#move({ x: x - w / k / 2, y: y - h / k / 2, k });
  }

  /** centre brings an item into the middle of the window. */
  centre(item, smooth = true) {
    this.#fitted = false;
    this.#go(centred(this.sheet, this.size, boxOf(item), Math.max(this.camera.k, 0.7)), smooth);
  }

  /** reveal centres an item if it is not wholly in view. */
  reveal(item) {
    const b = boxOf(item);
    const r = this.#window();
    if (b.x < r.x || b.y < r.y || b.x + b.w > r.x + r.w || b.y + b.h > r.y + r.h) this.centre(item);
  }

  /** select marks the node of an id, with its twin and what flows in and out; of several it is the one in a panel that was meant. */
  select(id, panel) {
    this.#selected = id;
    this.#panel = panel;
    this.#mark();
  }

  /** light marks the boxes for which shares gives more than 0, at most 1; null for none. */
  light(shares) {
    this.#lit = shares;
    this.#mark();
  }

  /** highlight marks what a search found. */
  highlight(ids) {
    this.#found = new Set(ids);
    this.#mark();
  }

  hover(id) {
    if (this.#hovered === id) return;
    this.#hovered = id;
    this.#mark();
    this.dispatchEvent(new CustomEvent("hover", { detail: id }));
  }

  /** at gives the topmost node or module title at a point of the window, or null. */
  at(point) {
    if (!this.sheet) return null;
    const card = this.#words.at(point); // what it holds is too small to be pointed at
    if (card) return this.find((it) => it.kind === "plate" && it.id === card.id && it.panel === card.panel) ?? null;
    const p = this.toSheet(point);
    const slack = 3 / this.camera.k;
    const found = this.#grid.touching({ x: p.x - slack, y: p.y - slack, w: 2 * slack, h: 2 * slack }).map((i) => this.sheet.items[i]);
    return found.findLast((it) => it.kind === "node") ?? found.findLast((it) => it.kind === "plate") ?? null;
  }

  toSheet(p) {
    return { x: this.camera.x + p.x / this.camera.k, y: this.camera.y + p.y / this.camera.k };
  }

  toWindow(item) {
    const b = boxOf(item);
    const { x, y, k } = this.camera;
    return { x: (b.x - x) * k, y: (b.y - y) * k, w: b.w * k, h: b.h * k };
  }

  // The camera.

  #window() {
    const { x, y, k } = this.camera;
    return { x, y, w: this.size.w / k, h: this.size.h / k };
  }

  #move(camera, quiet = false, flight = this.#flight + 1) {
    this.#flight = flight; // what moves the camera otherwise ends a flight
    this.camera = camera;
    this.#wanted = null;
    if (!quiet) this.dispatchEvent(new Event("move"));
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#place();
    });
  }

  #go(camera, smooth) {
    const flight = ++this.#flight;
    if (!smooth || calm() || !this.#drawn.region) {
      this.camera = camera;
      this.#wanted = null;
      this.dispatchEvent(new Event("move"));
      this.#commit();
      return;
    }
    const from = { ...this.camera };
    const start = performance.now();
    const tick = (now) => {
      if (flight !== this.#flight) return;
      const t = Math.min(1, (now - start) / 220);
      const e = 1 - (1 - t) ** 3;
      const k = from.k * (camera.k / from.k) ** e;
      this.#move({ x: from.x + (camera.x - from.x) * e, y: from.y + (camera.y - from.y) * e, k }, false, flight);
      if (t < 1) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  /** place moves the layer under the camera, and draws when it no longer suffices. */
  #place() {
    if (!this.sheet) return;
    const r = this.#drawn.region;
    const w = this.#window();
    const scaled = this.camera.k !== this.#drawn.k;
    const inside = r && w.x >= r.x && w.y >= r.y && w.x + w.w <= r.x + r.w && w.y + w.h <= r.y + r.h;
    if (scaled) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#commit(), settled);
      if (!inside && !covers(r, w, 0.5)) this.#commit();
    } else if (!inside) {
      this.#commit();
    }
    this.#layer.move(this.camera);
    this.#say();
  }

  /** say writes the words for the camera. */
  #say() {
    this.#words.place(this.camera, this.size);
    this.dispatchEvent(new Event("placed"));
  }

  // Drawing.

  #commit() {
    clearTimeout(this.#timer);
    if (!this.sheet || !this.size.w) return;
    const w = this.#window();
    const region = { x: w.x - margin * w.w, y: w.y - margin * w.h, w: w.w * (1 + 2 * margin), h: w.h * (1 + 2 * margin) };
    const items = this.#grid.touching(region);
    this.#drawn = { k: this.camera.k, region };
    this.#layer.draw(items, region, this.camera);
    this.#say();
    this.#mark();
  }

  // What is selected, hovered or found, on top.

  #mark() {
    if (!this.sheet) return;
    this.#layer.mark(marks(this, { selected: this.#selected, hovered: this.#hovered, found: this.#found, lit: this.#lit }));
  }
}
