// Painting many items at once. Thousands of items as elements would be slow, so
// where that many are in view a sheet is painted on a canvas, from the same
// fragments of SVG: what is a path, rectangle, circle or text there is one here.

import { legible } from "./camera.js";

const element = /<(\/?)(g|path|rect|circle|text)\b([^>]*?)(\/?)>([^<]*)/g;
const attribute = /([\w-]+)="([^"]*)"/g;
const entities = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&#34;": "\"", "&#39;": "'", "&quot;": "\"", "&apos;": "'" };

/** darkColours reads from the style of a sheet what its classes become when dark. */
export function darkColours(style) {
  const colours = new Map();
  for (const [, name, colour] of (style ?? "").matchAll(/\.tapestry-dark \.([\w-]+)\{(?:fill|stroke):(#\w+)\}/g)) colours.set(name, colour);
  return colours;
}

/** compile turns a fragment into marks that paint() understands. */
export function compile(svg, dark) {
  const marks = [];
  const groups = [{ x: 0, y: 0, opacity: 1 }];
  for (const [, end, tag, text, closed, content] of svg.matchAll(element)) {
    if (end) {
      if (tag === "g") groups.pop();
      continue;
    }
    const a = Object.fromEntries([...text.matchAll(attribute)].map((m) => [m[1], m[2]]));
    const moved = /translate\(([-\d.]+)[ ,]([-\d.]+)\)/.exec(a.transform ?? "");
    const outer = groups.at(-1);
    const x = outer.x + (moved ? +moved[1] : 0);
    const y = outer.y + (moved ? +moved[2] : 0);
    const opacity = outer.opacity * +(a.opacity ?? 1);
    if (tag === "g") {
      if (!closed) groups.push({ x, y, opacity });
      continue;
    }
    const mark = {
      x, y, opacity,
      fill: colours(a.fill, a.class, "f-", dark), stroke: colours(a.stroke, a.class, "s-", dark),
      width: +(a["stroke-width"] ?? 1), dash: (a["stroke-dasharray"] ?? "").split(/[ ,]/).filter(Boolean).map(Number), cover: +(a["fill-opacity"] ?? 1),
    };
    if (tag === "text") {
      Object.assign(mark, {
        text: content.replace(/&[#\w]+;/g, (e) => entities[e] ?? e), size: +(a["font-size"] ?? 12), bold: a["font-weight"] === "bold",
        align: a["text-anchor"] === "middle" ? "center" : "left", tx: x + +(a.x ?? 0), ty: y + +(a.y ?? 0), room: +(a.textLength ?? 0) || undefined,
      });
    } else {
      mark.path = outline(tag, a);
    }
    marks.push(mark);
  }
  return marks;
}

function colours(light, classes, prefix, dark) {
  if (!light || light === "none" || light.startsWith("url")) return null;
  const name = classes?.split(" ").find((c) => dark.has(c) && c.startsWith(prefix));
  return { light, dark: dark.get(name) ?? light };
}

function outline(tag, a) {
  if (tag === "path") return new Path2D(a.d);
  const p = new Path2D();
  if (tag === "circle") p.arc(+a.cx, +a.cy, +a.r, 0, 2 * Math.PI);
  else p.roundRect(+(a.x ?? 0), +(a.y ?? 0), +a.width, +a.height, +(a.rx ?? 0));
  return p;
}

/** paint paints compiled marks; the context is already in the sheet's coordinates, k its scale. */
export function paint(context, marks, theme, font, k) {
  for (const m of marks) {
    if (m.text !== undefined) {
      if (!legible(m.size, k) || !m.fill) continue;
      context.globalAlpha = m.opacity;
      context.font = (m.bold ? "bold " : "") + m.size + "px " + font;
      context.textAlign = m.align;
      context.fillStyle = m.fill[theme];
      context.fillText(m.text, m.tx, m.ty, m.room);
      continue;
    }
    context.translate(m.x, m.y);
    if (m.fill) {
      context.globalAlpha = m.opacity * m.cover;
      context.fillStyle = m.fill[theme];
      context.fill(m.path);
    }
    if (m.stroke) {
      context.globalAlpha = m.opacity;
      context.strokeStyle = m.stroke[theme];
      context.lineWidth = Math.max(m.width, 0.7 / k);
      context.setLineDash(k < 0.3 ? [] : m.dash);
      context.stroke(m.path);
    }
    context.translate(-m.x, -m.y);
  }
  context.globalAlpha = 1;
}
