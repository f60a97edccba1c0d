// What is marked on a drawing: the selected node, the one under the pointer, their
// gradients or values, what flows into them and out of them, what was found, and what
// has a share in an element.
import { boxOf } from "./box.js";
import { twins } from "./related.js";

/** marks gives the SVG that lies above a view's items; found is a set of ids. */
export function marks(view, { selected, hovered, found, lit }) {
  const { items } = view.sheet;
  const { k } = view.camera;
  const ids = [...new Set([selected, hovered])].filter(Boolean);
  const parts = ids.flatMap((id) => [
    ...items.filter((it) => it.kind === "edge" && (it.from === id || it.to === id))
      .map((it) => `<g class="${it.to === id ? "flow-in" : "flow-out"}">${it.svg.replace(/ id="[^"]*"/g, "")}</g>`),
    ...twins(items, id).map((it) => ring(it, "twin", k)),
  ]);
  for (const it of lit ? items : []) {
    const share = it.kind === "node" ? lit(it) : 0;
    if (share > 0) parts.push(glow(it, share, k));
  }
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

/** glow covers an item the more, the larger its share is. */
function glow(item, share, k) {
  const b = boxOf(item);
  return `<rect class="lit" x="${b.x}" y="${b.y}" width="${b.w}" height="${b.h}" rx="8" fill-opacity="${(0.06 + 0.22 * share).toFixed(3)}" stroke-width="${(Math.max(2, 1.5 / k) * (0.5 + share)).toFixed(2)}"/>`;
}

/** ring goes around an item, no thinner on the screen than can be seen. */
function ring(item, name, k) {
  const b = boxOf(item);
  const pad = Math.max(5, 4 / k);
  return `<rect class="${name}" x="${b.x - pad}" y="${b.y - pad}" width="${b.w + 2 * pad}" height="${b.h + 2 * pad}" rx="${8 + pad / 2}" stroke-width="${Math.max(3, 2.5 / k)}"/>`;
}
