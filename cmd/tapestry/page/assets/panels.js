// The panels around the drawing: which are open and how large they are, remembered for
// each kind of window and of work. On a small screen one at a time lies over the drawing,
// and is pulled to a size.
import { byID } from "./element.js";

const key = "tapestry-panels";
const all = ["models", "details", "charts", "training"];

// Sizes in pixels: at first, least and most, the latter as a share of the window.
const sizes = {
  wide: { models: [264, 180, 0.4], side: [332, 240, 0.5], charts: [300, 90, 0.6] }, // charts below a comparison are in one row, and lower
  small: { sheet: [0.5, 0.2, 0.85] }, // of the window's height or, where that is less, its width
};

// What is open at first: with nothing to read the models are; a comparison has the whole width.
const first = { none: ["models"], one: ["details", "charts", "training"], compare: ["training"] };

// Charts below a comparison open by themselves where the drawing keeps this share of the window's height.
const kept = 0.4;

/** Panels opens, closes and sizes the panels of the page. It fires "change". */
export class Panels extends EventTarget {
  #body = document.body;
  #small = matchMedia("(max-width: 760px), (max-height: 480px)");
  #mode = "none";
  #known = remembered();

  constructor() {
    super();
    this.#small.addEventListener("change", () => this.#apply());
    addEventListener("resize", () => this.#apply());
    for (const b of document.querySelectorAll("button[data-place]")) b.addEventListener("click", () => this.toggle(b.dataset.place));
    for (const [name, way] of [["models", [1, 0]], ["side", [-1, 0]], ["charts", [0, -1]], ["sheet", null]]) this.#edge(name, way);
    this.#apply();
  }

  /** small reports whether panels lie over the drawing, one at a time. */
  get small() {
    return this.#small.matches;
  }

  /** mode is what the page is used for: "none" when nothing is open, "one", or "compare". */
  set mode(mode) {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#apply();
  }

  isOpen(place) {
    return this.#state.open.includes(place);
  }

  /** open opens a panel; by itself says that not the reader asked: one that the reader closed then stays closed, and one that
   *  would leave too little of the drawing has its button marked instead. */
  open(place, byItself = false) {
    const s = this.#state;
    if (s.open.includes(place) || (byItself && s.closed.includes(place))) return;
    if (byItself && place === "charts" && this.#mode === "compare" && byID("panes").clientHeight - this.#size("charts") < kept * innerHeight) {
      this.#button("charts").dataset.news = "";
      return;
    }
    s.open = this.small ? [place] : [...s.open, place];
    s.closed = s.closed.filter((p) => p !== place);
    this.#keep();
  }

  close(place) {
    const s = this.#state;
    if (!s.open.includes(place)) return;
    s.open = s.open.filter((p) => p !== place);
    if (!this.small) s.closed = [...new Set([...s.closed, place])];
    this.#keep();
  }

  toggle(place) {
    if (this.isOpen(place)) this.close(place);
    else this.open(place);
  }

  /** uncover closes what lies over the drawing. */
  uncover() {
    if (this.small) for (const p of this.#state.open) this.close(p);
  }

  #button(place) {
    return document.querySelector(`button[data-place="${place}"]`);
  }

  get #class() {
    return this.small ? (innerWidth > innerHeight ? "landscape" : "portrait") : innerWidth >= 1150 ? "wide" : "narrow";
  }

  get #state() {
    const kind = this.#class + "/" + this.#mode;
    return (this.#known[kind] ??= { open: this.small ? (this.#mode === "none" ? ["models"] : []) : first[this.#mode], closed: [], size: {} });
  }

  #bounds(name) {
    const [usual, least, most] = (this.small ? sizes.small : sizes.wide)[name];
    if (!this.small) return { usual: name === "charts" && this.#mode === "compare" ? 0.7 * usual : usual, least, most: Math.max(least, most * (name === "charts" ? innerHeight : innerWidth)) };
    const room = this.#class === "landscape" ? innerWidth : innerHeight;
    return { usual: usual * room, least: least * room, most: most * room };
  }

  #size(name) {
    const { usual, least, most } = this.#bounds(name);
    return Math.round(Math.max(least, Math.min(most, this.#state.size[name] ?? usual)));
  }

  #resize(name, to) {
    const { least, most } = this.#bounds(name);
    if (to === null) delete this.#state.size[name];
    else this.#state.size[name] = Math.max(least, Math.min(most, to));
    this.#keep();
  }

  #keep() {
    try {
      localStorage.setItem(key, JSON.stringify(this.#known));
    } catch {
      // the choice then lasts until the page is left
    }
    this.#apply();
  }

  #apply() {
    const { open } = this.#state;
    this.#body.dataset.panels = open.join(" ");
    this.#body.dataset.screen = this.#class;
    this.#body.dataset.mode = this.#mode;
    for (const name of Object.keys(this.small ? sizes.small : sizes.wide)) {
      const { least, most } = this.#bounds(name);
      const now = this.#size(name);
      this.#body.style.setProperty("--" + name, now + "px");
      const edge = byID("edge-" + name);
      for (const [what, value] of [["now", now], ["min", least], ["max", most]]) edge.setAttribute("aria-value" + what, Math.round(value));
    }
    if (open[0]) byID("edge-sheet").setAttribute("aria-controls", document.querySelector(`[data-place="${open[0]}"]:not(button)`).id);
    for (const b of document.querySelectorAll("button[data-place]")) {
      b.setAttribute("aria-expanded", String(open.includes(b.dataset.place)));
      if (open.includes(b.dataset.place)) delete b.dataset.news;
    }
    this.dispatchEvent(new Event("change"));
  }

  /** edge makes an edge follow pointer and arrow keys; way is which way makes its panel larger. */
  #edge(name, way) {
    const edge = byID("edge-" + name);
    const grows = () => way ?? (this.#class === "landscape" ? [-1, 0] : [0, -1]);
    edge.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      e.preventDefault();
      edge.setPointerCapture(e.pointerId);
      const from = [e.clientX, e.clientY];
      const size = this.#size(name);
      const move = (m) => this.#resize(name, size + (m.clientX - from[0]) * grows()[0] + (m.clientY - from[1]) * grows()[1]);
      edge.addEventListener("pointermove", move);
      edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", move), { once: true });
    });
    edge.addEventListener("dblclick", () => this.#resize(name, null));
    edge.addEventListener("keydown", (e) => {
      const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key] ?? [0, 0];
      const by = dx * grows()[0] + dy * grows()[1];
      const { least, most } = this.#bounds(name);
      const to = { Home: least, End: most }[e.key] ?? (by ? this.#size(name) + by * (e.shiftKey ? 64 : 16) : null);
      if (to === null) return;
      e.preventDefault();
      this.#resize(name, to);
    });
  }
}

/** remembered is what storage has, if it is allowed and makes sense. */
function remembered() {
  const known = {};
  try {
    for (const [kind, s] of Object.entries(JSON.parse(localStorage.getItem(key)) ?? {})) {
      const names = (list) => (Array.isArray(list) ? list.filter((p) => all.includes(p)) : []);
      const size = Object.fromEntries(Object.entries(s?.size ?? {}).filter(([, v]) => Number.isFinite(v)));
      known[kind] = { open: names(s?.open), closed: names(s?.closed), size };
    }
  } catch {
    // nothing is remembered then
  }
  return known;
}
