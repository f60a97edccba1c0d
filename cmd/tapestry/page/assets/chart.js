// Charts in the page: an SVG of the server, of which at another step only what differs is written.
import { become, h, markup } from "./element.js";

const svgSpace = "http://www.w3.org/2000/svg";
const drawn = new WeakMap(); // of the frame around a chart, the lines that it was made of

/**
 * place makes charts, as texts, the children of a parent, each in a frame, so that they follow the
 * page's colours.
 */
export function place(parent, charts) {
  const frames = [...parent.children];
  charts.forEach((svg, i) => {
    const lines = svg.trim().split("\n");
    if (frames[i] && renew(frames[i], lines)) return;
    const fresh = h("div", { class: "chart-frame" }, markup(svg));
    if (frames[i]) become(frames[i], fresh);
    else parent.append(fresh);
    drawn.set(parent.children[i], lines);
  });
  for (const e of frames.slice(charts.length)) e.remove();
}

/**
 * renew writes the lines that differ from those that a chart was made of; false if it cannot: where
 * there are more or fewer of them, the outermost element differs, or a line is not one element.
 */
function renew(frame, lines) {
  const before = drawn.get(frame);
  const svg = frame.firstElementChild;
  if (before?.length !== lines.length || before[0] !== lines[0] || svg?.children.length !== lines.length - 2) return false;
  const changed = [];
  for (let i = 1; i < lines.length - 1; i++) {
    if (lines[i] === before[i]) continue;
    const e = only(lines[i]);
    const old = only(before[i]);
    if (!e || !old || !old.isEqualNode(svg.children[i - 1])) return false;
    changed.push([svg.children[i - 1], e]);
  }
  for (const [old, e] of changed) become(old, e);
  drawn.set(frame, lines);
  return true;
}

/** only is the element that a line is; null if it is none, or more than one. */
function only(line) {
  const g = document.createElementNS(svgSpace, "g");
  g.innerHTML = line;
  return g.childNodes.length === 1 ? g.firstElementChild : null;
}
