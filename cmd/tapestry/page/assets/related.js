// Items of a sheet that belong to another or lie beside it.
import { boxOf, centreOf } from "./box.js";

/** twins are the derivatives of a value, or the value of a derivative. */
export function twins(items, id) {
  const of = items.find((it) => it.kind === "node" && it.id === id);
  return items.filter((it) => it.kind === "node" && it.id !== id && (it.row === id || (of?.backward && it.id === of.row)));
}

/** nearest is the node of the same panel that lies nearest to an item in a direction, dx and dy being −1, 0 or 1; null if none does. */
export function nearest(items, item, dx, dy) {
  const c = centreOf(boxOf(item));
  let found = null;
  let distance = Infinity;
  for (const it of items) {
    if (it === item || it.kind !== "node" || it.panel !== item.panel) continue;
    const b = centreOf(boxOf(it));
    const along = (b.x - c.x) * dx + (b.y - c.y) * dy;
    const across = Math.abs((b.x - c.x) * dy) + Math.abs((b.y - c.y) * dx);
    if (along > 4 && along + 2 * across < distance) {
      distance = along + 2 * across;
      found = it;
    }
  }
  return found;
}
