// Where the camera of a sheet goes: {x, y, k}, the sheet's point at the window's corner and
// the scale, for a window {w, h}.
import { centreOf } from "./box.js";

const edge = 16; // of the sheet, around what is kept in view
const foot = 44; // pixels below a fitted drawing, where the controls stand

/** readable is how many pixels the smallest text of a fitted drawing has. */
export const readable = 9;

/** legible reports whether text of a sheet can be read at a scale. */
export const legible = (size, k) => size * k > readable - 0.01;

/** smallest is the size of the smallest text of a sheet, indices aside: they are a part of their word. */
export function smallest(sheet) {
  let least = Infinity;
  for (const it of sheet.items) for (const [, size] of it.svg.matchAll(/<text[^>]* font-size="([\d.]+)"/g)) least = Math.min(least, +size);
  return Number.isFinite(least) ? least : readable;
}

/**
 * fitted shows all of a sheet or, where the scale would be below the least, as much as the window
 * has, beginning at a box; head is what something else needs at the top.
 */
export function fitted({ width, height }, { w, h: tall }, from, { head, least }) {
  const h = tall - foot - head;
  const k = Math.max(Math.min(w / width, h / height, 1.15), least);
  const begin = centreOf(from ?? { x: 0, y: 0, w: 0, h: 0 });
  const at = (size, room, centre) => size * k <= room + 1 ? (size - room / k) / 2 : Math.max(0, Math.min(size - room / k, centre - room / k / 2));
  return { x: at(width, w, begin.x), y: at(height, h, begin.y) - head / k, k };
}

/** inside is the camera nearest to one that has a box in view. */
export function inside(b, { x, y, k }, { w, h }) {
  const nearest = (low, size, from, room) => Math.max(Math.min(from, low - edge), low + size + edge - room);
  return { x: nearest(b.x, b.w, x, w / k), y: nearest(b.y, b.h, y, h / k), k };
}

/** centred has a box in the middle, but goes no further than the sheet does, where that is larger than the window. */
export function centred({ width, height }, { w, h }, b, k) {
  const at = (size, room, centre) => (size > room ? Math.max(-edge, Math.min(size - room + edge, centre - room / 2)) : centre - room / 2);
  const c = centreOf(b);
  return { x: at(width, w / k, c.x), y: at(height, h / k, c.y), k };
}
