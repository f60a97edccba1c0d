// A small histogram of a node's values.
import { h } from "./element.js";
import { number } from "./quantity.js";

/** histogram draws bins {lo, hi, n} with the ends of their range written below. */
export function histogram(bins, of) {
  if (!bins?.length) return null;
  const top = Math.max(...bins.map((b) => b.n), 1);
  const [first, last] = [bins[0], bins.at(-1)];
  const bars = h("div", { class: "bars", role: "img", "aria-label": `Histogram of ${of}: ${bins.length} bins from ${number(first.lo)} to ${number(last.hi)}` });
  for (const b of bins) {
    const bar = h("span", { title: `${number(b.lo)} to ${number(b.hi)}: ${b.n}` });
    bar.style.height = b.n ? Math.max(3, (100 * b.n) / top) + "%" : "0";
    bars.append(bar);
  }
  return h("figure", { class: "histogram" }, bars, h("figcaption", {}, h("span", {}, number(first.lo)), h("span", {}, number(last.hi))));
}

/** statistics lists least, mean, greatest and what is special among values. */
export function statistics(s, title) {
  if (!s) return null;
  const rows = [["min", number(s.min)], ["mean", number(s.mean)], ["max", number(s.max)], ["std", number(s.std)], ["zeros", `${s.zeros} of ${s.n}`]];
  if (s.nan) rows.push(["NaN", s.nan]);
  if (s.inf) rows.push(["infinite", s.inf]);
  return h("section", { class: "stats" + (s.nan || s.inf ? " alarming" : "") },
    h("h3", {}, title),
    s.n > 1 && histogram(s.hist, title),
    s.n > 1 ? h("dl", { class: "facts" }, rows.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v)))) : h("p", { class: "single" }, number(s.mean)));
}
