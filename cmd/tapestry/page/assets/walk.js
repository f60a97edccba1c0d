// The row of buttons that walks through a list: to its ends and a step either way.
import { h } from "./element.js";

/**
 * walk makes the row. names says what the four buttons do, from the first to the last,
 * keys which keys do the two in the middle; place shows where one is; go is told the way:
 * -Infinity, -1, 1 or Infinity.
 */
export function walk(names, keys, place, go) {
  const button = (sign, label, way, key) => h("button", { type: "button", class: "tool", "aria-label": label, title: key ? `${label} (${key})` : label, onclick: () => go(way) }, sign);
  return h("div", { class: "walk" }, button("|◀", names[0], -Infinity), button("◀", names[1], -1, keys?.[0]), place, button("▶", names[2], 1, keys?.[1]), button("▶|", names[3], Infinity));
}
