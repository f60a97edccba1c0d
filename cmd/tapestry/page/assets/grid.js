// A spatial index: which items of a sheet touch a rectangle.

const cell = 400; // pixels of the sheet
const most = 48; // cells in which an item is listed; a larger one is looked at each time

/** Grid indexes boxes {x, y, w, h} by their place in an array. */
export class Grid {
  #cells = new Map();
  #large = [];
  #boxes;

  constructor(boxes) {
    this.#boxes = boxes;
    boxes.forEach((b, i) => {
      const [x0, y0, x1, y1] = span(b);
      if ((x1 - x0 + 1) * (y1 - y0 + 1) > most) {
        this.#large.push(i);
        return;
      }
      for (let y = y0; y <= y1; y++) {
        for (let x = x0; x <= x1; x++) {
          const key = x + "," + y;
          const at = this.#cells.get(key);
          if (at) at.push(i);
          else this.#cells.set(key, [i]);
        }
      }
    });
  }

  /** touching lists the boxes that touch r, in order. */
  touching(r) {
    const found = new Set();
    const look = (i) => {
      const b = this.#boxes[i];
      if (b.x <= r.x + r.w && r.x <= b.x + b.w && b.y <= r.y + r.h && r.y <= b.y + b.h) found.add(i);
    };
    this.#large.forEach(look);
    const [x0, y0, x1, y1] = span(r);
    if ((x1 - x0 + 1) * (y1 - y0 + 1) > this.#cells.size) {
      for (const at of this.#cells.values()) at.forEach(look);
    } else {
      for (let y = y0; y <= y1; y++) {
        for (let x = x0; x <= x1; x++) this.#cells.get(x + "," + y)?.forEach(look);
      }
    }
    return [...found].sort((a, b) => a - b);
  }
}

function span(b) {
  return [Math.floor(b.x / cell), Math.floor(b.y / cell), Math.floor((b.x + b.w) / cell), Math.floor((b.y + b.h) / cell)];
}
