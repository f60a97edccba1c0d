// The open documents as tabs, and what the present one is compared with.
import { byID, fill, h } from "./element.js";

/** Documents draws the tabs and the menu of comparisons. */
export class Documents {
  #workspace;
  #drawing;

  constructor(workspace, drawing) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    for (const type of ["docs", "doc", "compare"]) workspace.addEventListener(type, () => this.#draw());
    byID("align").addEventListener("change", (e) => {
      drawing.setAligned(e.target.checked);
    });
  }

  #draw() {
    const w = this.#workspace;
    const focused = document.activeElement?.closest("#documents [data-doc]")?.dataset.doc;
    fill(byID("documents"), w.docs.map((d) => {
      const current = d.id === w.doc?.id;
      return h("li", { class: [current ? "current" : w.comparing.includes(d.id) ? "beside" : "", d.closed ? "closed" : ""].join(" ").trim() || null },
        h("button", { type: "button", class: "tab", "data-doc": d.id, "aria-current": current ? "true" : null, title: d.closed ? "Closed in another window; it opens again when it is used" : d.unicode ?? d.name, onclick: () => w.show(d.id) }, w.called(d.id)),
        h("button", { type: "button", class: "close", "aria-label": "Close " + (w.called(d.id)), onclick: () => w.close(d.id).catch((e) => w.fail(e)) }, "×"));
    }));
    byID("documents").querySelector(".current")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (focused) byID("documents").querySelector(`[data-doc="${CSS.escape(focused)}"]`)?.focus();
    const others = w.docs.filter((d) => d.id !== w.doc?.id);
    byID("compare").disabled = others.length === 0;
    fill(byID("compare-with"), others.length === 0
      ? h("p", { class: "note" }, "Open a second model to compare with.")
      : others.map((d) => h("label", { class: "check" }, h("input", { type: "checkbox", checked: w.comparing.includes(d.id), onchange: (e) => {
        w.compare(e.target.checked ? [...w.comparing, d.id] : w.comparing.filter((id) => id !== d.id));
        byID("compare-with").querySelector(`input[data-doc="${CSS.escape(d.id)}"]`)?.focus();
      }, "data-doc": d.id }), w.called(d.id))));
    byID("compare").classList.toggle("on", w.comparing.length > 0);
    byID("align-field").hidden = w.comparing.length === 0;
    byID("align").checked = this.#drawing.aligned;
    document.title = w.doc ? `${w.called(w.doc.id)} – Tapestry` : "Tapestry";
  }
}
