// The modules of the drawing as a list, to open and close without a pointer.
import { byID, fill, h } from "./element.js";
import { count } from "./quantity.js";

/** Outline lists the modules of what is drawn. */
export class Outline {
  #drawing;
  #host = byID("outline");

  constructor(workspace, drawing) {
    this.#drawing = drawing;
    byID("open-all").addEventListener("click", () => workspace.look({ open: new Set(["*"]), closed: new Set() }));
    byID("close-all").addEventListener("click", () => workspace.look({ open: new Set(), closed: new Set() }));
    workspace.addEventListener("drawn", (e) => this.#draw(e.detail));
  }

  #drawn = "";

  #draw(sheet) {
    const drawn = JSON.stringify(sheet.modules ?? []);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const open = new Set((sheet.modules ?? []).filter((m) => m.open).map((m) => m.path));
    const reached = (path) => !path.includes("/") || (open.has(above(path)) && reached(above(path)));
    const modules = (sheet.modules ?? []).filter((m) => reached(m.path));
    byID("outline-section").hidden = modules.length === 0;
    const focused = document.activeElement?.dataset.path;
    fill(this.#host, modules.map((m) => {
      const depth = m.path.split("/").length - 1;
      const entry = h("li", {}, h("button", { type: "button", class: "module", "data-path": m.path, "aria-expanded": String(Boolean(m.open)), onclick: () => this.#drawing.toggleModule(m.path, !m.open) },
        h("span", { class: "twist", "aria-hidden": "true" }, m.open ? "▾" : "▸"), h("span", { class: "title" }, m.path.slice(m.path.lastIndexOf("/") + 1)), h("span", { class: "count" }, count(m.nodes ?? 0))));
      entry.style.paddingLeft = depth * 0.9 + "rem";
      return entry;
    }));
    if (focused) [...this.#host.querySelectorAll("button")].find((b) => b.dataset.path === focused)?.focus();
  }
}

const above = (path) => path.slice(0, path.lastIndexOf("/"));
