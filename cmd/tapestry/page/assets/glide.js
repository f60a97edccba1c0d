// Moving from one sheet to the next: what both have goes visibly to its new place.
import { boxOf } from "./box.js";

const timing = { duration: 240, easing: "cubic-bezier(.2,.7,.2,1)" };

/** places are the boxes of the shown items of a sheet, [number, element], by what they are. */
export function places(sheet, shown) {
  const found = new Map();
  for (const [i] of shown) {
    const it = sheet.items[i];
    if (it.kind === "node" || it.kind === "module" || it.kind === "plate") found.set(keyOf(it), boxOf(it));
  }
  return found;
}

/** glide moves the shown items from their places before, under the camera from, to those under the camera to. */
export function glide(sheet, shown, before, from, to) {
  for (const [i, e] of shown) {
    const it = sheet.items[i];
    const was = before.get(keyOf(it));
    if (!was) {
      e.animate([{ opacity: 0 }, { opacity: 1 }], timing);
      continue;
    }
    const now = boxOf(it);
    const dx = was.x - from.x - (now.x - to.x);
    const dy = was.y - from.y - (now.y - to.y);
    if (it.kind !== "module" && Math.abs(dx) + Math.abs(dy) > 1) e.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], timing);
  }
}

const keyOf = (it) => it.kind + " " + (it.panel ?? "") + " " + it.id;
