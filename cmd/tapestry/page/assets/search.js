// Finding nodes of the drawing by any word on them.
import { labelOf } from "./drawing.js";
import { byID, fill, h } from "./element.js";

const shown = 50;

/** entry shows the title of a node: its first line, and below it in one line the rest. */
function entry(title) {
  const [first, ...rest] = title.split("\n");
  return [h("b", {}, first), rest.length > 0 && h("span", {}, rest.join(" · "))];
}

/** Search lists what fits and jumps to it. */
export class Search {
  #drawing;
  #field = byID("search");
  #list = byID("search-results");
  #found = [];
  #at = -1;

  constructor(workspace, drawing) {
    this.#drawing = drawing;
    this.#field.addEventListener("input", () => this.#find());
    this.#field.addEventListener("focus", () => this.#field.value && this.#find());
    this.#field.addEventListener("keydown", (e) => this.#key(e));
    this.#field.addEventListener("blur", () => setTimeout(() => this.#close(), 150));
    workspace.addEventListener("drawn", () => this.#field.value && this.#highlight());
  }

  focus() {
    this.#field.focus();
    this.#field.select();
  }

  #matches() {
    const words = this.#field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const seen = new Set();
    const named = (it) => words.every((w) => labelOf(it).split("\n")[0].toLowerCase().includes(w));
    const found = (this.#drawing.main?.sheet?.items ?? []).filter((it) => {
      if (it.kind !== "node" || seen.has(it.id)) return false;
      const text = (labelOf(it) + " " + (it.module ?? "")).toLowerCase();
      if (!words.every((w) => text.includes(w))) return false;
      seen.add(it.id);
      return true;
    });
    return [...found.filter(named), ...found.filter((it) => !named(it))]; // by name before by anything else
  }

  #highlight() {
    const ids = this.#matches().map((it) => it.id);
    this.#drawing.panes.forEach((p) => p.view.highlight(ids));
  }

  #find() {
    this.#found = this.#matches();
    this.#at = -1;
    this.#highlight();
    const any = this.#field.value.trim() !== "";
    this.#list.hidden = !any;
    this.#field.setAttribute("aria-expanded", String(any));
    fill(this.#list, this.#found.slice(0, shown).map((it, i) => h("li", { role: "option", id: "found-" + i, "aria-selected": "false", onpointerdown: (e) => {
      e.preventDefault();
      this.#jump(i);
      this.#close();
    } }, entry(labelOf(it)))),
    any && this.#found.length === 0 && h("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "note" }, "Nothing in the drawing fits."),
    this.#found.length > shown && h("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "note" }, `and ${this.#found.length - shown} more`));
  }

  #key(e) {
    const n = Math.min(this.#found.length, shown);
    if ((e.key === "ArrowDown" || e.key === "ArrowUp") && n > 0) {
      e.preventDefault();
      this.#jump((this.#at + (e.key === "ArrowDown" ? 1 : n - 1 + (this.#at < 0 ? 1 : 0))) % n);
    } else if (e.key === "Enter" && n > 0) {
      e.preventDefault();
      this.#jump(Math.max(this.#at, 0));
      this.#close();
      this.#drawing.focus();
    } else if (e.key === "Escape") {
      this.#field.value = "";
      this.#find();
      this.#drawing.focus();
    }
  }

  #jump(i) {
    this.#at = i;
    [...this.#list.children].forEach((li, j) => li.setAttribute("aria-selected", String(j === i)));
    this.#list.children[i]?.scrollIntoView({ block: "nearest" });
    this.#field.setAttribute("aria-activedescendant", "found-" + i);
    this.#drawing.jump(this.#found[i].node ?? this.#found[i].id);
  }

  #close() {
    this.#list.hidden = true;
    this.#field.setAttribute("aria-expanded", "false");
    this.#field.removeAttribute("aria-activedescendant");
  }
}
