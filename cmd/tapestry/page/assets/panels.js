// The tabs of the panel beside the drawing, and, on a narrow screen, the bar that
// chooses which part of the page is shown.
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

/** places makes the bar of a narrow screen choose what is shown. */
export function places(bar) {
  const mark = () => {
    for (const b of bar.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.place === document.body.dataset.tab));
  };
  bar.addEventListener("click", (e) => {
    const b = e.target.closest("button[data-place]");
    if (b) document.body.dataset.tab = b.dataset.place;
  });
  new MutationObserver(mark).observe(document.body, { attributes: true, attributeFilter: ["data-tab"] });
  mark();
}
