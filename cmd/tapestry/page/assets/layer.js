// What a sheet shows in a window: elements of the items in or near it or, of many, a canvas.
// A gesture moves the layer as a whole.
import { legible } from "./camera.js";
import { become, h } from "./element.js";
import { compile, darkColours, paint } from "./painter.js";

const svgSpace = "http://www.w3.org/2000/svg";
const crowd = 900; // items, above which a canvas is painted

/** Layer draws items of a sheet. */
export class Layer {
  element;
  #sheet = null;
  #svg;
  #items;
  #marks;
  #marked = "";
  #canvas;
  #painted = new Map(); // compiled items
  #dark = new Map(); // colours of classes
  #shown = []; // indices of the items that are elements, in order
  #elements = new Map();
  #sizes = []; // of text
  #k = 0; // the scale that is drawn
  #hidden = -1; // how many of the sizes are too small to be read

  constructor(host) {
    this.#svg = document.createElementNS(svgSpace, "svg");
    this.#svg.setAttribute("class", "tapestry items");
    this.#marks = document.createElementNS(svgSpace, "svg");
    this.#marks.setAttribute("class", "marks");
    this.#marks.setAttribute("aria-hidden", "true");
    this.#canvas = h("canvas", { "aria-hidden": "true", hidden: true });
    this.element = h("div", { class: "layer" }, this.#canvas, this.#svg, this.#marks);
    host.append(this.element);
  }

  /**
   * load takes another sheet. Where that has the same things, only what looks otherwise is written,
   * and true is given; of any other sheet nothing is drawn yet.
   */
  load(sheet) {
    const before = this.#sheet;
    this.#sheet = sheet;
    if (before && alike(before, sheet)) {
      const changed = [];
      sheet.items.forEach((it, i) => it !== before.items[i] && it.svg !== before.items[i].svg && changed.push(i));
      if (changed.every((i) => sizesIn(sheet.items[i]).every((size) => this.#sizes.includes(size)))) {
        this.#renew(changed);
        return true;
      }
    }
    this.#painted.clear();
    this.#shown = [];
    this.#elements.clear();
    this.#k = 0;
    this.#hidden = -1;
    // The page decides about dark, so what follows the system's preference goes.
    const style = (sheet.style ?? "").replace(/@media \(prefers-color-scheme: dark\)\{(?:[^{}]*\{[^{}]*\})*\}/g, "");
    this.#dark = darkColours(style);
    this.#svg.replaceChildren();
    this.#sizes = [...new Set(sheet.items.flatMap(sizesIn))].sort((a, b) => a - b);
    const rules = document.createElementNS(svgSpace, "style");
    rules.textContent = style + this.#sizes.map((size, i) => {
      const text = `text[font-size="${size}"]`;
      const ground = i < this.#sizes.length - 1 ? `,rect:not(.box):has(+${text})` : ""; // what a badge is written on
      return `.small-${i} :is(${text}${ground}){display:none}`;
    }).join("");
    const defs = document.createElementNS(svgSpace, "defs");
    defs.innerHTML = sheet.defs ?? "";
    this.#items = document.createElementNS(svgSpace, "g");
    if (sheet.font) this.#svg.setAttribute("font-family", sheet.font);
    this.#svg.append(rules, defs, this.#items);
    for (const s of [this.#svg, this.#marks]) s.setAttribute("viewBox", `0 0 ${sheet.width} ${sheet.height}`);
    return false;
  }

  /** renew makes items that are drawn look as they do now. */
  #renew(changed) {
    for (const i of changed) this.#painted.delete(i);
    const shown = changed.filter((i) => this.#elements.has(i));
    this.#parse(shown).forEach((e, at) => become(this.#elements.get(shown[at]), e));
  }

  /** parse makes the elements of items. */
  #parse(items) {
    const parsed = document.createElementNS(svgSpace, "g");
    parsed.innerHTML = items.map((i) => `<g data-item="${i}">${this.#sheet.items[i].svg}</g>`).join("");
    return [...parsed.children];
  }

  /** shown are the items that are elements, by their numbers, with these. */
  get shown() {
    return this.#shown.map((i) => [i, this.#elements.get(i)]);
  }

  /** move puts the layer under a camera, before it is drawn at its scale. */
  move({ x, y, k }) {
    this.element.style.transform = `translate(${-x * k}px, ${-y * k}px) scale(${k / this.#k})`;
    this.#hide(k);
  }

  /** draw draws items, which are those that touch a region, for a camera. */
  draw(items, region, { x, y, k }) {
    if (k !== this.#k) {
      for (const s of [this.#svg, this.#marks]) {
        s.style.width = this.#sheet.width * k + "px";
        s.style.height = this.#sheet.height * k + "px";
      }
      this.#k = k;
    }
    this.#hide(k);
    const crowded = items.length > crowd;
    this.#canvas.hidden = !crowded;
    this.#elementsOf(crowded ? [] : items);
    if (crowded) this.#paint(items, region, k);
    this.element.style.transform = `translate(${-x * k}px, ${-y * k}px)`;
  }

  /** mark puts SVG above the items. */
  mark(svg) {
    if (svg === this.#marked) return;
    this.#marked = svg;
    this.#marks.innerHTML = svg;
  }

  /** hide leaves out what is too small to be read at a scale. */
  #hide(k) {
    const hidden = this.#sizes.findLastIndex((size) => !legible(size, k)) + 1;
    if (hidden === this.#hidden) return;
    this.#hidden = hidden;
    this.#svg.setAttribute("class", ["tapestry items", hidden && "far", ...this.#sizes.slice(0, hidden).map((_, i) => "small-" + i)].filter(Boolean).join(" "));
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
      this.#parse(fresh).forEach((e, at) => this.#elements.set(fresh[at], e));
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
      const it = this.#sheet.items[i];
      if (it.kind === "label" && this.#hidden > 0) continue;
      let marks = this.#painted.get(i);
      if (!marks) this.#painted.set(i, (marks = compile(it.svg, this.#dark)));
      paint(context, marks, theme, this.#sheet.font ?? "sans-serif", k);
    }
  }
}

/** alike is whether two sheets have the same things, whatever these look like. */
function alike(a, b) {
  return ["width", "height", "font", "style", "defs"].every((part) => a[part] === b[part]) && a.items.length === b.items.length &&
    a.items.every((it, i) => it === b.items[i] || ["kind", "id", "panel"].every((part) => it[part] === b.items[i][part]));
}

/** sizesIn are those of an item's text. */
function sizesIn(item) {
  return [...item.svg.matchAll(/<text[^>]* font-size="([\d.]+)"/g)].map(([, size]) => size);
}
