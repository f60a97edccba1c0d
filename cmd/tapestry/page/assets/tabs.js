// Tabs of a panel.
import { byID } from "./element.js";

/** tabs makes a tablist work by click and arrow keys; shown is told the new panel's id. */
export function tabs(list, shown) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const choose = (tab, focus) => {
    for (const t of all) {
      const on = t === tab;
      t.setAttribute("aria-selected", String(on));
      t.tabIndex = on ? 0 : -1;
      byID(t.getAttribute("aria-controls")).hidden = !on;
    }
    if (focus) tab.focus();
    shown(tab.getAttribute("aria-controls"));
  };
  all.forEach((t, i) => {
    t.addEventListener("click", () => choose(t));
    t.addEventListener("keydown", (e) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!way) return;
      let to = i;
      do to = (to + way + all.length) % all.length; while (all[to].hidden);
      choose(all[to], true);
    });
  });
  return (id) => choose(all.find((t) => t.getAttribute("aria-controls") === id));
}
