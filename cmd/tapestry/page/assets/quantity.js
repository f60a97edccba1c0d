// Writing numbers, sizes and shapes for people.

/** number writes a value with at most five digits; NaN and infinities come as words. */
export function number(v) {
  if (v === null || v === undefined) return "–";
  if (typeof v === "string") return v.replaceAll("-", "−");
  if (v === 0) return "0";
  const a = Math.abs(v);
  const text = a >= 1e6 || a < 1e-4 ? v.toExponential(3) : String(+v.toPrecision(5));
  return text.replace("e+", "e").replaceAll("-", "−");
}

/** count writes a whole number with narrow spaces between thousands, at which no line breaks. */
export function count(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function bytes(n) {
  if (n === null || n === undefined) return "–";
  for (const unit of ["B", "KiB", "MiB"]) {
    if (n < 1024) return (n < 10 && unit !== "B" ? n.toFixed(1) : Math.round(n)) + " " + unit;
    n /= 1024;
  }
  return n.toFixed(1) + " GiB";
}

export function seconds(s) {
  if (s === null || s === undefined) return "–";
  if (s < 1e-6) return (s * 1e9).toFixed(0) + " ns";
  if (s < 1e-3) return (s * 1e6).toPrecision(3) + " µs";
  if (s < 1) return (s * 1e3).toPrecision(3) + " ms";
  return s.toPrecision(3) + " s";
}

/** axes writes a shape with its names: "i=150 d=4". */
export function axes(list) {
  if (!list?.length) return "one number";
  return list.map((a) => (a.name ? a.name + " = " : "") + a.size).join(" × ");
}
