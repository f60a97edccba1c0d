// What words say of a drawing's items. Each line is a list of texts, longest first, of which the
// first that has room is written.
import { count, seconds } from "./quantity.js";

/** titleOf is the title of a module: the last part of its path, or what its plate says. */
export function titleOf(item) {
  return item.title ?? item.path?.split("/").at(-1) ?? item.label ?? "";
}

/** moduleLines says of a module, by what the server knows of those that it stands for: formula, parameters, share of the gradient. */
export function moduleLines(item, facts) {
  const lines = [[titleOf(item)]];
  const of = item.stands.map((path) => facts?.modules[path]).filter(Boolean);
  if (!of.length) return lines;
  const formula = item.backward ? of[0].derivative : of[0].formula;
  if (formula) lines.push([formula]);
  const params = of.reduce((sum, m) => sum + m.params, 0);
  if (params && !item.backward) lines.push([count(params) + " parameters", brief(params) + " parameters", brief(params) + " param."]);
  const shares = of.map((m) => m.share).filter((s) => typeof s === "number");
  if (shares.length) {
    const part = percent(shares.reduce((sum, s) => sum + s, 0));
    lines.push([part + " of the gradient", part + " of ∂", part]);
  }
  return lines;
}

/** tapeLines says which instructions compute what a box shows, and how long they take where that was measured. */
export function tapeLines(computed) {
  const time = (t) => (t === null ? "" : " · " + seconds(t));
  const lines = computed.rows.map((r) => [`${r.i} ${r.op}${time(r.time)}`, `${r.i} ${r.op}`, String(r.i)]);
  const more = computed.count - computed.rows.length;
  if (more > 0) lines.push([`and ${count(more)} more${computed.time === null ? "" : ", in all " + seconds(computed.time)}`, `and ${count(more)} more`, `+${more}`]);
  return lines;
}

function percent(share) {
  const p = share * 100;
  return (p === 0 ? "0" : p < 0.1 ? "< 0.1" : p < 9.95 ? p.toFixed(1) : p.toFixed(0)) + " %";
}

/** brief writes a large number in a few signs. */
function brief(n) {
  for (const [unit, sign] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (n >= unit) return +(n / unit).toPrecision(3) + " " + sign;
  return String(n);
}
