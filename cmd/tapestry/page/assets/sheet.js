// A sheet in a window: only what is in or near the window is in the document, and a
// gesture moves one layer without touching anything in it.
import { boxOf, centreOf, covers } from "./box.js";
import { calm, h, markup } from "./element.js";
import { Grid } from "./grid.js";
import { marks } from "./marks.js";
import { compile, darkColours, paint } from "./painter.js";

const svgSpace = "http://www.w3.org/2000/svg";
const margin = 0.35; // of the window, on each side, that is ready for a gesture
const crowd = 900; // items, above which a canvas is painted
const settled = 130; // ms after the last change of scale, when it is drawn sharply
const least = 0.02;
const most = 4;
const foot = 44; // pixels below a fitted drawing, where the controls stand
const far = 0.33; // scale below which text is left out of a drawing of elements

/**
 * SheetView shows a sheet. It fires "pick" with the item that was clicked, or null,
 * "toggle" with the item of a module, "hover", and "move" when its camera moved.
 */
export class SheetView extends EventTarget {
  sheet = null;
  head = 0; // pixels above a fitted drawing that something else needs
  camera = { x: 0, y: 0, k: 1 }; // the sheet's point at the window's corner, and the scale
  #host;
  #layer;
  #svg;
  #items;
  #marks;
  #canvas;
  #grid = null;
  #boxes = [];
  #painted = new Map(); // compiled items
  #dark = new Map(); // colours of classes
  #shown = []; // indices of the items that are elements, in order
  #elements = new Map();
  #drawn = { k: 0, region: null }; // what the layer holds
  #frame = 0;
  #timer = 0;
  #selected = null;
  #hovered = null;
  #found = new Set();
  #fitted = true; // nobody moved the camera since it was fitted

  constructor(host) {
    super();
    this.#host = host;
    this.#svg = document.createElementNS(svgSpace, "svg");
    this.#svg.setAttribute("class", "tapestry items");
    this.#marks = document.createElementNS(svgSpace, "svg");
    this.#marks.setAttribute("class", "marks");
    this.#marks.setAttribute("aria-hidden", "true");
    this.#canvas = h("canvas", { "aria-hidden": "true", hidden: true });
    this.#layer = h("div", { class: "layer" }, this.#canvas, this.#svg, this.#marks);
    host.append(this.#layer);
    addEventListener("themechange", () => this.sheet && this.#commit()); // a canvas has no classes
    new ResizeObserver(() => {
      if (!this.sheet) return;
      if (this.#fitted) this.fit(false);
      else this.#commit();
    }).observe(host);
  }

  /**
   * show replaces the sheet. With keep the camera stays; with anchor, an item of the
   * sheet before, the same thing stays where it is on the screen and what moves does
   * so visibly.
   */
  show(sheet, { keep = false, anchor = null } = {}) {
    const before = this.sheet && (keep || anchor) ? this.#places() : null;
    const held = anchor && { box: boxOf(anchor), camera: { ...this.camera } };
    this.sheet = sheet;
    this.#boxes = sheet.items.map(boxOf);
    this.#grid = new Grid(this.#boxes);
    this.#painted.clear();
    this.#clear();
    this.#prepare();
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
    if (before && held && !calm()) this.#glide(before, held.camera);
  }

  find(test) {
    return this.sheet?.items.find(test) ?? null;
  }

  /** fit shows all of the sheet, or its top at a legible size if it is too large for that. */
  fit(smooth = true, whole = false) {
    if (!this.sheet) return;
    const { clientWidth: w, clientHeight: tall } = this.#host;
    if (!w || !tall) return;
    const h = tall - foot - this.head;
    const { width, height } = this.sheet;
    let k = Math.min(w / width, h / height, 1.15);
    if (!whole && k < far) k = Math.max(k, Math.min(w / width, 0.8), 0.5);
    // Of what does not fit, the beginning is shown: where its first node stands.
    const first = this.find((it) => it.kind === "node");
    const begin = first ? boxOf(first) : { x: 0, y: 0, w: 0 };
    const x = width * k > w + 1 ? Math.max(0, Math.min(begin.x + begin.w / 2 - w / k / 2, width - w / k)) : (width - w / k) / 2;
    const y = height * k > h + 1 ? Math.max(0, begin.y - 60) : (height - h / k) / 2;
    this.#go({ x, y: y - this.head / k, k }, smooth);
    this.#fitted = true;
  }

  /** zoom scales about a point of the window, its middle by default. */
  zoom(factor, at) {
    const { clientWidth: w, clientHeight: h } = this.#host;
    const { x: px, y: py } = at ?? { x: w / 2, y: h / 2 };
    const { x, y, k } = this.camera;
    const to = Math.min(most, Math.max(least, k * factor));
    this.#fitted = false;
    this.#move({ x: x + px / k - px / to, y: y + py / k - py / to, k: to });
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

  /** centre brings an item into the middle of the window. */
  centre(item, smooth = true) {
    const b = boxOf(item);
    const k = Math.max(this.camera.k, 0.7);
    const { clientWidth: w, clientHeight: h } = this.#host;
    this.#fitted = false;
    this.#go({ x: b.x + b.w / 2 - w / k / 2, y: b.y + b.h / 2 - h / k / 2, k }, smooth);
  }

  /** reveal centres an item if it is not wholly in view. */
  reveal(item) {
    const b = boxOf(item);
    const r = this.#window();
    if (b.x < r.x || b.y < r.y || b.x + b.w > r.x + r.w || b.y + b.h > r.y + r.h) this.centre(item);
  }

  /** select marks the node of an id, with its twin and what flows in and out. */
  select(id) {
    this.#selected = id;
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
    const p = this.toSheet(point);
    const slack = 3 / this.camera.k;
    const found = this.#grid.touching({ x: p.x - slack, y: p.y - slack, w: 2 * slack, h: 2 * slack }).map((i) => this.sheet.items[i]);
    return found.findLast((it) => it.kind === "node") ?? found.findLast((it) => it.kind === "plate") ?? null;
  }

  /** beside gives the node nearest to an item in a direction, dx and dy being −1, 0 or 1. */
  beside(item, dx, dy) {
    const c = centreOf(boxOf(item));
    let found = null;
    let nearest = Infinity;
    for (const it of this.sheet.items) {
      if (it === item || it.kind !== "node" || it.panel !== item.panel) continue;
      const b = centreOf(boxOf(it));
      const along = (b.x - c.x) * dx + (b.y - c.y) * dy;
      const across = Math.abs((b.x - c.x) * dy) + Math.abs((b.y - c.y) * dx);
      if (along > 4 && along + 2 * across < nearest) {
        nearest = along + 2 * across;
        found = it;
      }
    }
    return found;
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
    return { x, y, w: this.#host.clientWidth / k, h: this.#host.clientHeight / k };
  }

  #move(camera, quiet = false) {
    this.camera = camera;
    if (!quiet) this.dispatchEvent(new Event("move"));
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#place();
    });
  }

  #go(camera, smooth) {
    if (!smooth || calm() || !this.#drawn.region) {
      this.camera = camera;
      this.dispatchEvent(new Event("move"));
      this.#commit();
      return;
    }
    const from = { ...this.camera };
    const start = performance.now();
    const tick = (now) => {
      const t = Math.min(1, (now - start) / 220);
      const e = 1 - (1 - t) ** 3;
      const k = from.k * (camera.k / from.k) ** e;
      this.#move({ x: from.x + (camera.x - from.x) * e, y: from.y + (camera.y - from.y) * e, k });
      if (t < 1) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  /** place moves the layer under the camera, and draws when it no longer suffices. */
  #place() {
    if (!this.sheet) return;
    const r = this.#drawn.region;
    const w = this.#window();
    const { x, y, k } = this.camera;
    const scaled = k !== this.#drawn.k;
    const inside = r && w.x >= r.x && w.y >= r.y && w.x + w.w <= r.x + r.w && w.y + w.h <= r.y + r.h;
    if (scaled) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#commit(), settled);
      if (!inside && !covers(r, w, 0.5)) this.#commit();
    } else if (!inside) {
      this.#commit();
    }
    const s = k / this.#drawn.k;
    this.#layer.style.transform = `translate(${-x * k}px, ${-y * k}px) scale(${s})`;
  }

  // Drawing.

  #prepare() {
    // The page decides about dark, so what follows the system's preference goes.
    const style = (this.sheet.style ?? "").replace(/@media \(prefers-color-scheme: dark\)\{(?:[^{}]*\{[^{}]*\})*\}/g, "");
    this.#dark = darkColours(style);
    this.#svg.replaceChildren();
    const sheet = document.createElementNS(svgSpace, "style");
    sheet.textContent = style;
    const defs = document.createElementNS(svgSpace, "defs");
    defs.innerHTML = this.sheet.defs ?? "";
    this.#items = document.createElementNS(svgSpace, "g");
    if (this.sheet.font) this.#svg.setAttribute("font-family", this.sheet.font);
    this.#svg.append(sheet, defs, this.#items);
    for (const s of [this.#svg, this.#marks]) s.setAttribute("viewBox", `0 0 ${this.sheet.width} ${this.sheet.height}`);
  }

  #clear() {
    this.#shown = [];
    this.#elements.clear();
    this.#drawn = { k: 0, region: null };
  }

  #commit() {
    clearTimeout(this.#timer);
    if (!this.sheet || !this.#host.clientWidth) return;
    const w = this.#window();
    const region = { x: w.x - margin * w.w, y: w.y - margin * w.h, w: w.w * (1 + 2 * margin), h: w.h * (1 + 2 * margin) };
    const items = this.#grid.touching(region);
    const { x, y, k } = this.camera;
    if (k !== this.#drawn.k) {
      for (const s of [this.#svg, this.#marks]) {
        s.style.width = this.sheet.width * k + "px";
        s.style.height = this.sheet.height * k + "px";
      }
    }
    const crowded = items.length > crowd;
    this.#canvas.hidden = !crowded;
    this.#drawn = { k, region };
    this.#svg.classList.toggle("far", k < far);
    if (crowded) {
      this.#elementsOf([]);
      this.#paint(items, region, k);
    } else {
      this.#elementsOf(items);
    }
    this.#layer.style.transform = `translate(${-x * k}px, ${-y * k}px)`;
    this.#mark();
  }

  /** elementsOf makes these items, in order, the elements of the drawing. */
  #elementsOf(items) {
    const wanted = new Set(items);
    for (const i of this.#shown) {
      if (!wanted.has(i)) {
        this.#elements.get(i).remove();
        this.#elements.delete(i);
      }
    }
    const fresh = items.filter((i) => !this.#elements.has(i));
    if (fresh.length > 0) {
      const parsed = document.createElementNS(svgSpace, "g");
      parsed.innerHTML = fresh.map((i) => `<g data-item="${i}">${this.sheet.items[i].svg}</g>`).join("");
      [...parsed.children].forEach((e, at) => this.#elements.set(fresh[at], e));
      let before = null;
      for (let at = items.length - 1; at >= 0; at--) {
        const e = this.#elements.get(items[at]);
        if (e.parentNode !== this.#items) this.#items.insertBefore(e, before);
        before = e;
      }
    }
    this.#shown = items;
  }

  #paint(items, region, k) {
    const c = this.#canvas;
    const sharp = Math.min(devicePixelRatio || 1, 2);
    const width = Math.ceil(region.w * k);
    const height = Math.ceil(region.h * k);
    if (c.width !== width * sharp || c.height !== height * sharp) {
      c.width = width * sharp;
      c.height = height * sharp;
      c.style.width = width + "px";
      c.style.height = height + "px";
    }
    c.style.transform = `translate(${region.x * k}px, ${region.y * k}px)`;
    const context = c.getContext("2d", { alpha: true });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, c.width, c.height);
    context.setTransform(k * sharp, 0, 0, k * sharp, -region.x * k * sharp, -region.y * k * sharp);
    const theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
    for (const i of items) {
      const it = this.sheet.items[i];
      if (it.kind === "label" && k < far) continue;
      let marks = this.#painted.get(i);
      if (!marks) this.#painted.set(i, (marks = compile(it.svg, this.#dark)));
      paint(context, marks, theme, this.sheet.font ?? "sans-serif", k);
    }
  }

  // What is selected, hovered or found, on top.

  #mark() {
    if (!this.sheet) return;
    this.#marks.innerHTML = marks(this, { selected: this.#selected, hovered: this.#hovered, found: this.#found });
  }

  /** twins are the derivatives of a value, or the value of a derivative. */
  twins(id) {
    const of = this.find((it) => it.kind === "node" && it.id === id);
    return this.sheet.items.filter((it) => it.kind === "node" && it.id !== id && (it.row === id || (of?.backward && it.id === of.row)));
  }

  // Moving from one sheet to the next.

  #places() {
    const places = new Map();
    for (const i of this.#shown) {
      const it = this.sheet.items[i];
      if (it.kind === "node" || it.kind === "module" || it.kind === "plate") places.set(keyOf(it), this.#boxes[i]);
    }
    return places;
  }

  #glide(before, camera) {
    for (const i of this.#shown) {
      const it = this.sheet.items[i];
      const e = this.#elements.get(i);
      const was = before.get(keyOf(it));
      const timing = { duration: 240, easing: "cubic-bezier(.2,.7,.2,1)" };
      if (!was) {
        e.animate([{ opacity: 0 }, { opacity: 1 }], timing);
        continue;
      }
      const now = this.#boxes[i];
      const dx = was.x - camera.x - (now.x - this.camera.x);
      const dy = was.y - camera.y - (now.y - this.camera.y);
      if (it.kind !== "module" && Math.abs(dx) + Math.abs(dy) > 1) e.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], timing);
    }
  }
}

const keyOf = (it) => it.kind + " " + (it.panel ?? "") + " " + it.id;

/** legendOf parses the legend of a sheet so that it follows the page's theme. */
export function legendOf(sheet) {
  const legend = markup(sheet.legend ?? "");
  legend.querySelector("svg")?.classList.add("tapestry", "legend-drawing");
  return legend;
}
