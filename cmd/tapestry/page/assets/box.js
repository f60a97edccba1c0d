// Boxes {x, y, w, h} in the coordinates of a sheet.

/** boxOf is the box of an item. */
export function boxOf(item) {
  return item.box ?? item;
}

export function centreOf(b) {
  return { x: b.x + b.w / 2, y: b.y + b.h / 2 };
}

/** covers reports whether r covers more than a share of w. */
export function covers(r, w, share) {
  if (!r) return false;
  const x = Math.min(r.x + r.w, w.x + w.w) - Math.max(r.x, w.x);
  const y = Math.min(r.y + r.h, w.y + w.h) - Math.max(r.y, w.y);
  return x > 0 && y > 0 && x * y > share * w.w * w.h;
}
