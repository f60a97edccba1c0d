// Gestures on a drawing: drag and wheel move it, two fingers or Ctrl with the wheel
// scale it, a click picks, a double click opens or closes.
import { nearest, twins } from "./related.js";

const slack = 4; // pixels that a click may wander

/** listen makes a SheetView in its window follow pointers and wheel. */
export function listen(host, view) {
  const pointers = new Map();
  let moved = false;
  let spread = 0;

  const at = (e) => {
    const r = host.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const middle = () => {
    const all = [...pointers.values()];
    return { x: all.reduce((s, p) => s + p.x, 0) / all.length, y: all.reduce((s, p) => s + p.y, 0) / all.length };
  };
  const distance = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };

  host.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || e.target.closest("button, a, input, .floating")) return;
    pointers.set(e.pointerId, at(e));
    if (pointers.size === 1) moved = false;
    if (pointers.size === 2) spread = distance();
  });
  host.addEventListener("pointermove", (e) => {
    const p = at(e);
    if (!pointers.has(e.pointerId)) {
      if (e.pointerType === "mouse") {
        const it = view.at(p);
        host.style.cursor = it ? "pointer" : "";
        view.hover(it?.kind === "node" ? it.id : null);
      }
      return;
    }
    const was = pointers.get(e.pointerId);
    if (!moved && Math.hypot(p.x - was.x, p.y - was.y) < slack) return;
    if (!moved) host.setPointerCapture(e.pointerId);
    moved = true;
    const from = middle();
    pointers.set(e.pointerId, p);
    const to = middle();
    view.pan(to.x - from.x, to.y - from.y);
    if (pointers.size === 2) {
      const now = distance();
      if (spread > 0 && now > 0) view.zoom(now / spread, to);
      spread = now;
    }
    host.classList.add("dragging");
  });
  const up = (e) => {
    if (!pointers.delete(e.pointerId)) return;
    spread = 0;
    host.classList.remove("dragging");
    if (e.type === "pointerup" && !moved && pointers.size === 0) {
      view.dispatchEvent(new CustomEvent("pick", { detail: view.at(at(e)) }));
    }
  };
  host.addEventListener("pointerup", up);
  host.addEventListener("pointercancel", up);
  host.addEventListener("pointerleave", () => view.hover(null));
  host.addEventListener("dblclick", (e) => {
    if (e.target.closest("button, a, input, .floating")) return;
    const it = view.at(at(e));
    if (it) view.dispatchEvent(new CustomEvent("toggle", { detail: it }));
  });
  host.addEventListener("wheel", (e) => {
    if (e.target.closest(".floating")) return;
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 18 : 1; // lines or pixels
    if (e.ctrlKey || e.metaKey) view.zoom(Math.exp(-Math.max(-60, Math.min(60, e.deltaY * unit)) * 0.008), at(e));
    else if (e.shiftKey && !e.deltaX) view.pan(-e.deltaY * unit, 0);
    else view.pan(-e.deltaX * unit, -e.deltaY * unit);
  }, { passive: false });
}

const pace = 90; // pixels of an arrow key

/** steer makes a drawing follow the keyboard while it has the focus. */
export function steer(host, view, fit, selection, pick) {
  host.addEventListener("keydown", (e) => {
    if (e.target !== host || e.ctrlKey || e.metaKey || e.altKey) return;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    const item = selection();
    if (way && e.shiftKey) {
      const start = item ?? view.find((it) => it.kind === "node");
      const next = item ? nearest(view.sheet.items, start, ...way) : start;
      if (next) pick(next);
    } else if (way) {
      view.pan(-way[0] * pace, -way[1] * pace);
    } else if (e.key === "+" || e.key === "=") {
      view.zoom(1.25);
    } else if (e.key === "-" || e.key === "_") {
      view.zoom(1 / 1.25);
    } else if (e.key === "0") {
      fit();
    } else if (e.key === "Home") {
      pick(view.find((it) => it.kind === "node"));
    } else if (e.key === "Enter" && item) {
      view.dispatchEvent(new CustomEvent("toggle", { detail: item }));
    } else if (e.key === "t" && item) {
      const twin = twins(view.sheet.items, item.id)[0];
      if (twin) pick(twin);
    } else {
      return;
    }
    e.preventDefault();
  });
}
