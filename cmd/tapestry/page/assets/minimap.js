// The overview in a corner of a drawing that is larger than its window: all of it in a few
// pixels, and what of it is seen as a frame, which a pointer or keys move.
import { boxOf } from "./box.js";
import { h } from "./element.js";
import { darkColours } from "./painter.js";

const room = { w: 168, h: 190 }; // pixels, in which it is as large as the drawing's form allows
const dot = 1.5; // pixels of a box at least
const least = 7; // pixels of the frame
const kept = "tapestry-overview";

/** Minimap is the overview of a view, over its window. */
export class Minimap {
  #view;
  #host;
  #canvas = h("canvas", { "aria-hidden": "true" });
  #frame = h("div", { class: "window" });
  #map;
  #element;
  #sheet = null;
  #scale = 1;

  constructor(view, host) {
    this.#view = view;
    this.#host = host;
    this.#map = h("div", { class: "map", tabindex: "0", role: "application", "aria-label": "Overview of the drawing: arrow keys move what is seen" }, this.#canvas, this.#frame);
    this.#element = h("details", { class: "minimap floating", hidden: true, open: opened() }, h("summary", {}, "Overview"), this.#map);
    host.append(this.#element);
    this.#element.addEventListener("toggle", () => {
      keep(this.#element.open);
      this.#follow();
    });
    view.addEventListener("placed", () => this.#follow());
    addEventListener("themechange", () => this.#sheet && this.#paint());
    this.#listen();
  }

  /** listen moves the camera with a pointer that is held, and with keys. */
  #listen() {
    const go = (e) => {
      const r = this.#map.getBoundingClientRect();
      this.#view.look({ x: (e.clientX - r.left) / this.#scale, y: (e.clientY - r.top) / this.#scale });
    };
    this.#map.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      this.#map.setPointerCapture(e.pointerId);
      go(e);
    });
    this.#map.addEventListener("pointermove", (e) => this.#map.hasPointerCapture(e.pointerId) && go(e));
    this.#map.addEventListener("keydown", (e) => {
      const way = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [0, 3], PageDown: [0, -3] }[e.key];
      if (!way || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      this.#view.pan(way[0] * this.#host.clientWidth / 4, way[1] * this.#host.clientHeight / 4);
    });
  }

  /** follow has the frame where the camera is. */
  #follow() {
    const { sheet, camera: { x, y, k } } = this.#view;
    const { w, h: tall } = this.#view.size;
    const slack = 1 / k;
    const all = !sheet || x <= slack && y <= slack && x + w / k >= sheet.width - slack && y + tall / k >= sheet.height - slack;
    this.#element.hidden = all;
    if (all || !this.#element.open) return;
    if (this.#sheet !== sheet) {
      this.#sheet = sheet;
      this.#paint();
    }
    const s = this.#scale;
    const within = (from, size, most) => {
      const low = Math.max(0, Math.min(from * s, most - least));
      return [low, Math.max(least, Math.min((from + size) * s, most) - low)];
    };
    const [left, width] = within(x, w / k, sheet.width * s);
    const [top, height] = within(y, tall / k, sheet.height * s);
    this.#frame.style.transform = `translate(${left}px, ${top}px)`;
    this.#frame.style.width = width + "px";
    this.#frame.style.height = height + "px";
  }

  /** paint draws all items in the colours of their roles or, under an overlay, in those of the overlay. */
  #paint() {
    const sheet = this.#sheet;
    const s = (this.#scale = Math.min(room.w / sheet.width, room.h / sheet.height));
    const sharp = Math.min(devicePixelRatio || 1, 2);
    const c = this.#canvas;
    c.width = Math.ceil(sheet.width * s * sharp);
    c.height = Math.ceil(sheet.height * s * sharp);
    for (const e of [c, this.#map]) {
      e.style.width = sheet.width * s + "px";
      e.style.height = sheet.height * s + "px";
    }
    const context = c.getContext("2d");
    context.scale(sharp, sharp);
    const dark = document.documentElement.dataset.theme === "dark" ? darkColours(sheet.style) : new Map();
    const part = sheet.scale ? "fill" : "stroke"; // the fills of roles are pale
    for (const it of sheet.items) {
      const b = boxOf(it);
      const colour = colourOf(it, part, dark);
      if (!colour) continue;
      context.fillStyle = context.strokeStyle = colour;
      if (it.kind === "module") context.strokeRect(b.x * s, b.y * s, b.w * s, b.h * s);
      else context.fillRect(b.x * s, b.y * s, Math.max(dot, b.w * s), Math.max(dot, b.h * s));
    }
  }
}

/** colourOf is the colour of an item in the overview, or null of what is not in it. */
function colourOf(item, part, dark) {
  if (item.kind !== "node" && item.kind !== "module") return null;
  const painted = item.kind === "node" ? /<\w+[^>]* class="box [^>]*>/.exec(item.svg)?.[0] : item.svg;
  const what = item.kind === "node" ? part : "stroke";
  const light = new RegExp(` ${what}="(#\\w+)"`).exec(painted ?? "")?.[1];
  const name = new RegExp(`\\b${what[0]}-[\\w-]+`).exec(painted ?? "")?.[0];
  return light ? dark.get(name) ?? light : null;
}

/** opened is whether the overview is open: as it was left, or else where there is room for it. */
function opened() {
  try {
    const was = localStorage.getItem(kept);
    if (was !== null) return was === "open";
  } catch {
    // storage may be forbidden
  }
  return !matchMedia("(max-width: 760px), (max-height: 480px)").matches;
}

function keep(open) {
  try {
    localStorage.setItem(kept, open ? "open" : "closed");
  } catch {
    // it is then forgotten
  }
}
