// What is marked on a drawing: the selected node, the one under the pointer, their
// gradients or values, what flows into them and out of them, and what was found.
import { boxOf } from "./box.js";

/** marks gives the SVG that lies above a view's items; found is a set of ids. */
export function marks(view, { selected, hovered, found }) {
  const { items } = view.sheet;
  const { k } = view.camera;
  const ids = [...new Set([selected, hovered])].filter(Boolean);
  const parts = ids.flatMap((id) => [
    ...items.filter((it) => it.kind === "edge" && (it.from === id || it.to === id))
      .map((it) => `<g class="${it.to === id ? "flow-in" : "flow-out"}">${it.svg.replace(/ id="[^"]*"/g, "")}</g>`),
    ...view.twins(id).map((it) => ring(it, "twin", k)),
  ]);
  const isNode = items.some((it) => it.kind === "node" && it.id === selected);
  for (const it of items) {
    if (it.kind === "plate" && it.id === selected && !isNode) parts.push(ring(it, "selected", k));
    if (it.kind !== "node") continue;
    if (it.id === selected) parts.push(ring(it, "selected", k));
    else if (found.has(it.id)) parts.push(ring(it, "found", k));
    else if (it.id === hovered) parts.push(ring(it, "hovered", k));
  }
  return parts.join("");
}

/** ring goes around an item, no thinner on the screen than can be seen. */
function ring(item, name, k) {
  const b = boxOf(item);
  const pad = Math.max(5, 4 / k);
  return `<rect class="${name}" x="${b.x - pad}" y="${b.y - pad}" width="${b.w + 2 * pad}" height="${b.h + 2 * pad}" rx="${8 + pad / 2}" stroke-width="${Math.max(3, 2.5 / k)}"/>`;
}
