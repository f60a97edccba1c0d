// Words of a constant size over a drawing: what its modules are where their boxes are too small
// to be read, and which instructions compute a box where there is room for that.
import { boxOf } from "./box.js";
import { legible, readable } from "./camera.js";
import { h } from "./element.js";
import { moduleLines, tapeLines } from "./wording.js";

const line = 13; // pixels of a line, as in app.css
const pad = 3; // around words
const sizes = { title: 11.5, text: 10.5, small: readable }; // of letters, as in app.css
const family = '"Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const fonts = { title: `600 ${sizes.title}px ${family}`, text: `${sizes.text}px ${family}`, small: `${sizes.small}px ${family}` };
const narrow = 26; // pixels, in which hardly anything can be said
const least = 12; // of a module that is named beside it
const lower = 0.8; // size of indices, as in app.css
const close = 2; // times the size that can be read, at which there is room for the tape

/** Words places words over the window of a sheet. They never lie over each other. */
export class Words extends EventTarget {
  #element = h("div", { class: "words", "aria-hidden": "true" });
  #pen = document.createElement("canvas").getContext("2d");
  #widths = new Map();
  #facts = []; // by panel
  #roots = []; // modules and nodes that lie in no module
  #nodes = [];
  #heads = []; // of the two models of a comparison
  #size = { main: 0, least: 0, box: 0 }; // of the text and of a box of the sheet
  #made = new Map(); // elements by what they are of
  #placed = []; // of the present view: {of, x, y, w, h, said}
  #taken = []; // boxes that are read themselves
  #cards = []; // modules that are seen as one, with where
  #asked = false;

  constructor(host) {
    super();
    host.append(this.#element);
  }

  /** load takes another sheet; with keep it is of the same models, and what is known of them is said until that is told anew. */
  load(sheet, keep) {
    this.#asked = false;
    if (!keep) this.#facts = [];
    const modules = new Map();
    const key = (it, path) => it.panel + (it.backward ? "d " : "m ") + path;
    for (const it of sheet.items) {
      if (it.kind === "module") modules.set(key(it, it.module), { item: it, box: boxOf(it), parts: [], nodes: [], stands: it.copies?.length ? it.copies : [it.module], path: it.module, backward: it.backward });
      if (it.kind === "plate") Object.assign(modules.get(key(it, it.module)), { title: /<text[^>]*>([^<]*)/.exec(it.svg)?.[1], plate: boxOf(it) });
    }
    const around = (it, path) => {
      for (let p = path ?? ""; p; p = p.slice(0, Math.max(p.lastIndexOf("/"), 0))) if (modules.has(key(it, p))) return modules.get(key(it, p));
      return null;
    };
    this.#roots = [];
    this.#nodes = [];
    for (const m of modules.values()) {
      m.outer = around(m.item, m.path.slice(0, Math.max(m.path.lastIndexOf("/"), 0)));
      (m.outer?.parts ?? this.#roots).push(m);
    }
    for (const m of modules.values()) m.stands = standsFor(m);
    for (const it of sheet.items) {
      if (it.kind !== "node") continue;
      const outer = around(it, it.module);
      const n = { item: it, box: boxOf(it), node: it.node ?? it.id, path: it.path, backward: it.backward, label: it.label ?? "", outer };
      if (it.path) n.stands = it.copies?.length ? it.copies : standsFor({ outer, path: it.path, stands: [it.path] });
      this.#nodes.push(n);
      (outer?.nodes ?? this.#roots).push(n);
    }
    this.#heads = sheet.items.filter((it) => it.kind === "heading" && it.panel).map((it) => ({ item: it, box: boxOf(it), room: sheet.width / 2, label: headed(it.svg) }));
    const text = this.#nodes.flatMap((n) => [...n.item.svg.matchAll(/<text[^>]* font-size="([\d.]+)"/g)].map(([, size]) => +size));
    const heights = this.#nodes.map((n) => n.box.h).sort((a, b) => a - b);
    this.#size = { main: Math.max(0, ...text), least: Math.min(...text, Infinity), box: heights[heights.length >> 1] ?? 0 };
    for (const e of this.#made.values()) e.remove();
    this.#made.clear();
    this.#placed = [];
    this.#cards = [];
  }

  /** tell takes what the server knows of the documents of the sheet, one for each panel. */
  tell(facts) {
    this.#facts = facts;
    this.#asked = true;
  }

  /** speaks is whether something is said for which facts were asked. */
  get speaks() {
    return this.#asked;
  }

  /** ask wants to be told anew, once there is something to be said. */
  ask() {
    this.#asked = false;
  }

  /** at is the module whose words are seen at a point of the window in place of what it holds; null without one. */
  at({ x, y }) {
    return this.#cards.find((c) => x >= c.x && x <= c.x + c.w && y >= c.y && y <= c.y + c.h)?.of.item ?? null;
  }

  /** place writes the words for a camera and a window {w, h}. */
  place({ x, y, k }, window) {
    this.#placed = [];
    this.#cards = [];
    const on = (b) => {
      const left = Math.max((b.x - x) * k, 0);
      const top = Math.max((b.y - y) * k, 0);
      return { x: left, y: top, w: Math.min((b.x + b.w - x) * k, window.w) - left, h: Math.min((b.y + b.h - y) * k, window.h) - top };
    };
    const near = this.#size.least * k >= close * readable;
    const far = !legible(this.#size.main, k);
    const small = !legible(this.#size.least, k);
    if ((near || far) && !this.#asked && this.#nodes.length) {
      this.#asked = true;
      this.dispatchEvent(new Event("asked"));
    }
    const view = { on, k, window, far, small, inBoxes: this.#size.box * k >= line };
    const boxes = far ? [] : this.#nodes.map((n) => ({ of: n, ...on(n.box) })).filter((r) => r.w > 0 && r.h > 0);
    this.#taken = boxes; // their own text is read
    for (const head of this.#heads) this.#head(head, view);
    for (const r of this.#roots) if (r.parts) this.#module(r, view);
    for (const r of this.#roots) if (!r.parts && far) this.#node(r, view, true);
    if (near) this.#tape(boxes);
    this.#write();
  }

  /** module writes the title of a module and goes on to what it holds or, where that is too small, says what it is. */
  #module(m, view) {
    const { on, k, far, small, inBoxes } = view;
    const r = on(m.box);
    if (r.w < least || r.h < line) return;
    const seen = m.parts.filter(({ box }) => box.w * k >= narrow && box.h * k >= line).length; // in the window or not
    const lines = moduleLines(m, this.#facts[(m.item.panel || 1) - 1]);
    if (far && !inBoxes && 2 * seen <= m.parts.length) {
      this.#cards.push({ of: m, ...r });
      this.#put(m, lines, r, true, this.#beside(m, r, lines, view));
      return;
    }
    const share = lines.length > 1 && lines.at(-1).at(-1).endsWith("%") ? " · " + lines.at(-1).at(-1) : "";
    const plate = m.plate && on(m.plate);
    if (small || !plate || plate.w <= 0 || plate.h <= 0) this.#put(m, [[lines[0][0] + share, lines[0][0]]], small ? r : { ...r, h: Math.min(r.h, view.window.h / 3) }, true);
    for (const p of m.parts) this.#module(p, view);
    if (far && inBoxes) for (const n of m.nodes) this.#node(n, view, false);
  }

  /** head writes which of two models is drawn below, where its heading is too small to be read. */
  #head(head, { on, k, window, small }) {
    const { x, y } = on(head.box);
    if (small && y < window.h) this.#put(head, [[head.label]], { x, y, w: head.room * k, h: line }, true);
  }

  /** beside is the room next to a module that is too narrow for its title, if nothing of its own is there. */
  #beside(m, r, lines, { on, window }) {
    const w = Math.min(150, Math.max(...lines.map((texts) => this.#width(texts[0], "small"))) + 2 * pad);
    if (r.w >= this.#width(lines[0][0], "small") + 2 * pad) return null;
    for (const x of m.backward ? [r.x + r.w, r.x - w] : [r.x - w, r.x + r.w]) {
      const room = { x, y: r.y, w, h: r.h };
      if (x < 0 || x + w > window.w) continue;
      const others = m.outer ? [...m.outer.parts, ...m.outer.nodes] : this.#roots;
      if (!others.some((o) => o !== m && meets(on(o.box), room))) return room;
    }
    return null;
  }

  /** node writes what a node is in its box or, where it may, beyond it. */
  #node(n, { on, window }, beyond) {
    const r = on(n.box);
    if (r.w <= 0 || r.h <= 0) return;
    const lines = n.path ? moduleLines(n, this.#facts[(n.item.panel || 1) - 1]) : [[n.label]];
    if (!n.path || r.h < 2 * line) lines.length = 1;
    if (r.h >= line && r.w >= narrow && this.#put(n, lines, r, false)) return;
    if (!beyond) return;
    const w = Math.min(160, this.#width(lines[0][0], "small") + 2 * pad);
    const room = { x: r.x + r.w / 2 - w / 2, y: r.y + r.h / 2 - line / 2, w, h: line };
    if (room.x >= 0 && room.y >= 0 && room.x + room.w <= window.w && room.y + room.h <= window.h) this.#put(n, lines.slice(0, 1), room, false);
  }

  /** tape writes below each box what computes it. */
  #tape(boxes) {
    for (const r of boxes) {
      const computed = this.#facts[(r.of.item.panel || 1) - 1]?.tape[r.of.item.loop ?? r.of.node];
      if (!computed) continue;
      const lines = tapeLines(computed);
      const room = { x: r.x, y: r.y + r.h + 1, w: Math.max(r.w, 110), h: lines.length * line };
      for (const o of boxes) if (o !== r && meets(o, room)) room.h = Math.min(room.h, o.y - room.y);
      if (room.h >= line) this.#put(r.of, lines, room, false);
    }
  }

  /**
   * put finds a place for as many of the lines as a room has, at its top or, centred, in its middle;
   * false if there is none. Beside it is another room, where the words may stand instead.
   */
  #put(of, lines, room, top, beside = null) {
    const most = Math.min(lines.length, Math.floor((room.h + 1) / line));
    if (most < 1) return false;
    if (beside && this.#put(of, lines, beside, top)) return true;
    const kept = most >= lines.length ? lines : most === 1 ? lines.slice(0, 1) : [lines[0], ...lines.slice(1 - most)];
    const width = room.w - 2 * pad;
    if (!this.#fit(kept[0], width, top)) return false;
    const said = kept.map((texts, i) => this.#fit(texts, width, i === 0 && top)).filter(Boolean);
    const w = Math.max(...said.map((s) => s.w)) + 2 * pad;
    const h = said.length * line;
    const x = top ? room.x + Math.min(4, Math.max(0, room.w - w)) : room.x + (room.w - w) / 2;
    let y = top ? room.y + Math.min(3, Math.max(0, room.h - h)) : room.y + (room.h - h) / 2;
    for (;;) {
      const hit = this.#taken.find((p) => meets(p, { x, y, w, h })) ?? this.#placed.find((p) => meets(p, { x, y, w, h }));
      if (!hit) break;
      if (!top) return false;
      y = hit.y + hit.h;
      if (y + h > room.y + room.h + 1) return said.length > 1 && this.#put(of, [kept[0]], room, top);
    }
    this.#placed.push({ of, x, y, w, h, said });
    return true;
  }

  /** fit is the first of some texts that has room, or the last shortened: {text, font, w}; null if nothing can be said. */
  #fit(texts, room, title) {
    for (const font of title ? ["title", "small"] : ["text", "small"]) {
      for (const text of texts) {
        const w = this.#width(text, font);
        if (w <= room) return { text, font, w };
      }
    }
    const all = this.#width(texts.at(-1), "small");
    for (let n = Math.floor(written(texts.at(-1)).length * room / all); n >= 3; n--) {
      const text = written(texts.at(-1)).slice(0, n).join("").trimEnd() + "…";
      const w = this.#width(text, "small");
      if (w <= room) return { text, font: "small", w };
    }
    return null;
  }

  #width(text, font) {
    const key = font + text;
    let w = this.#widths.get(key);
    if (w === undefined) {
      w = 0;
      this.#pen.font = fonts[font];
      for (const [part, low] of lowered(text)) w += this.#pen.measureText(part).width * (low ? lower : 1);
      this.#widths.set(key, (w = Math.ceil(w)));
    }
    return w;
  }

  /** write makes the elements be what was placed. */
  #write() {
    const wanted = new Set(this.#placed.map((p) => p.of));
    for (const [of, e] of this.#made) {
      if (wanted.has(of)) continue;
      e.remove();
      this.#made.delete(of);
    }
    for (const { of, x, y, w, said } of this.#placed) {
      let e = this.#made.get(of);
      if (!e) {
        this.#made.set(of, (e = h("div", { class: "word" + (of.backward ? " back" : "") + (of.parts ? " scope" : "") })));
        this.#element.append(e);
      }
      const text = w + said.map((s) => s.font + s.text).join("\n");
      if (e.said !== text) {
        e.said = text;
        e.style.width = w + "px";
        e.replaceChildren(...said.map((s) => h("span", { class: s.font }, lowered(s.text).map(([part, low]) => (low ? h("sub", {}, part) : part)))));
      }
      e.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    }
  }
}

/** headed is what a heading calls a model, without its objective. */
function headed(svg) {
  const text = new DOMParser().parseFromString(`<svg xmlns="http://www.w3.org/2000/svg">${svg}</svg>`, "image/svg+xml").querySelector("text");
  return (text?.textContent ?? "").replace(/: [^:]*=.*$/, "");
}

/** standsFor lists the paths that a module stands for: where one around it is drawn once for several, the same in each of them. */
function standsFor(m) {
  let paths = m.stands;
  for (let o = m.outer; o; o = o.outer) {
    const copies = o.item.copies;
    if (copies?.length && paths.length === 1) paths = copies.map((c) => c + "/" + m.path.slice(o.path.length + 1));
  }
  return paths;
}

function meets(a, b) {
  return a.w > 0 && a.h > 0 && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** lowered is a text in parts, [text, whether it is an index]: x_{ij} has the index ij. */
function lowered(text) {
  return [...text.matchAll(/_\{([^}]*)\}?|[^_]+|_/g)].map(([part, index]) => (index === undefined ? [part, false] : [index, true]));
}

/** written are the signs of a text that can be cut off, each index with its braces. */
function written(text) {
  return lowered(text).flatMap(([part, low]) => (low ? [`_{${part}}`] : [...part]));
}
