// The editor for models in the formula notation: mistakes are shown while typing,
// with the place they are at.
import * as api from "./api.js";
import { byID, fill, h } from "./element.js";

/** Editor is the dialogue with the text. */
export class Editor {
  #workspace;
  #dialogue = byID("editor");
  #text = byID("editor-text");
  #name = byID("editor-name");
  #mistakes = byID("editor-mistakes");
  #start = byID("editor-start");
  #examples = null;
  #latest;
  #timer = 0;

  constructor(workspace) {
    this.#workspace = workspace;
    this.#latest = new api.Latest((e) => this.#tell([{ message: e.message, caret: e.caret }]));
    byID("write").addEventListener("click", () => this.open());
    byID("editor-file").addEventListener("change", (e) => this.#read(e.target.files[0]));
    this.#start.addEventListener("change", () => this.#begin(this.#start.value));
    byID("editor-cancel").addEventListener("click", () => this.#dialogue.close());
    byID("editor-form").addEventListener("submit", (e) => {
      e.preventDefault();
      this.#submit();
    });
    this.#text.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#check(), 300);
    });
  }

  async open() {
    this.#dialogue.showModal();
    this.#text.focus();
    try {
      this.#examples ??= await api.examples();
    } catch (e) {
      this.#tell([{ message: e.message }]);
      return;
    }
    fill(this.#start, h("option", { value: "" }, "…"), this.#examples.map((x) => h("option", { value: x.name }, x.title)));
    const { doc } = this.#workspace;
    if (!this.#text.value && doc?.source) this.#text.value = doc.source;
    if (this.#text.value) this.#check();
    else this.#begin(this.#examples.find((x) => x.name.startsWith("kmeans-softmax"))?.name);
  }

  /** begin puts an example in the place of the text. */
  #begin(name) {
    const x = this.#examples.find((x) => x.name === name);
    if (!x) return;
    this.#start.value = "";
    this.#name.value = x.name;
    this.#text.value = x.text;
    this.#check();
  }

  async #read(file) {
    if (!file) return;
    if (file.size > 1 << 20) {
      this.#tell([{ message: "The file is larger than 1 MiB." }]);
      return;
    }
    this.#name.value = file.name;
    this.#text.value = await file.text();
    this.#check();
  }

  #check() {
    this.#latest.restart((signal) => api.parse({ text: this.#text.value, name: this.#name.value }, signal), (r) => this.#tell(r.errors ?? []));
  }

  #tell(mistakes) {
    this.#text.setAttribute("aria-invalid", String(mistakes.length > 0));
    fill(this.#mistakes, mistakes.length === 0 ? h("p", { class: "note" }, "No mistakes.") : h("ul", {}, mistakes.map((m) => h("li", {},
      m.line && h("button", { type: "button", class: "link", onclick: () => this.#goTo(m.line, m.column) }, `${m.line}:${m.column}`), m.line && " ", m.message,
      m.caret && h("pre", {}, m.caret)))));
  }

  #goTo(line, column) {
    const before = this.#text.value.split("\n").slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    this.#text.focus();
    this.#text.setSelectionRange(before + column - 1, before + column);
  }

  async #submit() {
    try {
      await this.#workspace.open({ text: this.#text.value, name: this.#name.value || "model.tapestry", settings: {}, dtype: "f32", optimiser: "", rate: 0, seed: 1, data: "" });
      this.#dialogue.close();
    } catch (e) {
      this.#tell([{ message: e.message, caret: e.caret }]);
    }
  }
}
