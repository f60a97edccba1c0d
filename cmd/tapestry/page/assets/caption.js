// What is said of the drawing: its legend, and in a comparison what differs.
import { byID, fill, h, markup, refill } from "./element.js";
import { formula } from "./formula.js";
import { Identity } from "./identity.js";

/** Caption is around the drawing. */
export class Caption {
  #workspace;
  #drawing;
  #identity;
  #legend = null;
  #described = "";

  constructor(workspace, drawing) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    this.#identity = new Identity(workspace);
  }

  /** show says what the drawing shows; what it says already stays, as the reader left it. */
  show(s, together, firing) {
    const w = this.#workspace;
    byID("overlay-scale").textContent = s.scale ? "· " + s.scale : "";
    byID("overlay-scale").hidden = !s.scale;
    if (s.legend !== this.#legend) refill(byID("legend-body"), legendOf(s).childNodes);
    this.#legend = s.legend;
    const described = JSON.stringify([s.title, s.sentence, s.summary, s.words, s.matching, s.identity, together, firing, w.comparing, this.#drawing.against]);
    if (described === this.#described) return;
    this.#described = described;
    fill(byID("difference"), firing !== null && [
      h("p", { class: "summary" }, s.title ?? ""), h("button", { type: "button", class: "link", onclick: () => w.look({ firing: null }) }, "Back to the model"),
    ], together && [
      this.#others(),
      h("div", { class: "verdict" },
        h("p", { class: "summary" }, s.sentence ?? ""),
        s.summary && h("p", { class: "note" }, `Against A, ${s.summary}.`),
        (s.words || s.matching) && h("details", {}, h("summary", {}, "what that means"), s.words && h("p", {}, s.words), s.matching && h("p", { class: "note matching" }, s.matching))),
      s.identity && formula(s.identity),
      s.identity && this.#identity.element,
    ]);
    byID("difference").hidden = firing === null && (!together || !(s.summary || s.identity));
  }

  /** others are the compared documents as tabs, of which one is drawn with the first. */
  #others() {
    const w = this.#workspace;
    if (w.comparing.length < 2) return null;
    return h("p", { class: "against", role: "group", "aria-label": "Compared with" }, w.comparing.map((id) => h("button", { type: "button", class: "tool small", "aria-pressed": String(id === this.#drawing.against), "data-against": id, onclick: () => this.#drawing.setAgainst(id) }, w.called(id))));
  }
}

/** legendOf parses the legend of a sheet so that it follows the page's theme. */
function legendOf(sheet) {
  const legend = markup(sheet.legend ?? "");
  legend.querySelector("svg")?.classList.add("tapestry", "legend-drawing");
  return legend;
}
