// The tape: the listing of the compiled program, walked instruction by instruction,
// forwards and backwards, with operands and result of the present one.
import * as api from "./api.js";
import { byID, fill, h } from "./element.js";
import { statistics } from "./histogram.js";
import { bytes, count, seconds } from "./quantity.js";
import { walk } from "./walk.js";

const height = 30; // of a line of the listing, as in app.css
const spare = 8; // lines made above and below the window

/** TapePanel walks the tape of the current document. */
export class TapePanel {
  #workspace;
  #drawing;
  #tell;
  #host = byID("tape-panel");
  #latest;
  #detail;
  #doc = null;
  #listing = [];
  #info = null;
  #at = 0;
  #scroller = h("div", { class: "listing", tabindex: "0", role: "listbox", "aria-label": "Instructions of the tape" });
  #lines = h("div", { class: "lines", role: "presentation" });
  #present = h("div", { class: "present", "aria-live": "polite" });
  #place = h("output", {});
  #break = h("input", { id: "break", placeholder: "alpha, |α| > 0.9, loss < 0.4, |any| > 3, nan, step 40", autocomplete: "off", spellcheck: "false" });
  #came = h("output", { class: "note", for: "break", "aria-live": "polite" });
  #running = null;

  constructor(workspace, drawing, tell) {
    this.#workspace = workspace;
    this.#drawing = drawing;
    this.#tell = tell;
    this.#latest = new api.Latest((e) => this.#note(e.message));
    this.#detail = new api.Latest((e) => fill(this.#present, h("p", { class: "note" }, e.message)));
    this.#scroller.append(this.#lines);
    this.#scroller.addEventListener("scroll", () => this.#draw());
    this.#scroller.addEventListener("click", (e) => {
      const line = e.target.closest("[data-i]");
      if (line) this.go(+line.dataset.i);
    });
    this.#scroller.addEventListener("keydown", (e) => {
      const to = { ArrowDown: this.#at + 1, ArrowUp: this.#at - 1, Home: 0, End: this.#listing.length - 1, PageDown: this.#at + 10, PageUp: this.#at - 10 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      this.go(to);
    });
    this.#break.addEventListener("input", () => this.#remember());
    for (const type of ["doc", "break"]) workspace.addEventListener(type, () => (this.#break.value = workspace.view.breaks));
    for (const type of ["doc", "history", "step"]) workspace.addEventListener(type, () => this.refresh());
    workspace.addEventListener("selection", () => this.#meet());
  }

  /** at is the number of the present instruction. */
  get at() {
    return this.#at;
  }

  /** instruction is the number of the present instruction, for a link; null where none was gone to. */
  get instruction() {
    return this.#doc === this.#workspace.doc?.id && this.#doc !== null ? this.#at : this.#begins?.at ?? null;
  }

  #begins = null; // where a link begins: {doc, at}

  /** begin says at which instruction the tape of a document is to be read. */
  begin(doc, at) {
    this.#begins = at ? { doc, at } : null;
    if (at && this.#doc === doc) this.go(at, false);
  }

  get visible() {
    return !this.#host.hidden;
  }

  /** refresh loads what the panel shows, if it is shown. */
  refresh() {
    const { doc, step } = this.#workspace;
    if (!this.visible) return;
    if (!doc) {
      this.#note("Nothing is open yet.");
      return;
    }
    if (this.#doc === doc.id) {
      this.#explain();
      return;
    }
    this.#latest.restart((signal) => api.tape(doc.id, step, signal), (t) => {
      this.#doc = doc.id;
      this.#info = t;
      this.#listing = t.listing;
      this.#at = 0;
      this.#build();
      if (this.#begins?.doc === doc.id) this.#at = this.#begins.at;
      else this.#meet();
      this.#begins = null;
      this.go(this.#at, false);
    });
  }

  #note(text) {
    this.#doc = null;
    fill(this.#host, h("p", { class: "note" }, text));
  }

  #build() {
    fill(this.#host,
      walk(["First instruction", "Step back", "Step forward", "Last instruction"], ",.", this.#place, (way) => this.go(this.#at + way)),
      this.#breaks(),
      h("p", { class: "note" }, `${count(this.#listing.length)} instructions · ${bytes(this.#info.arena)} of memory · ${count(this.#info.flops ?? 0)} flop a step`),
      this.#scroller, this.#present);
    this.#lines.style.height = this.#listing.length * height + "px";
    this.#draw();
  }

  /** breaks is the form that runs on or back to where something holds. */
  #breaks() {
    const run = (back) => this.run(back);
    return h("form", { class: "breaks", "aria-label": "Run to a break", onsubmit: (e) => {
      e.preventDefault();
      run(false);
    } },
    h("label", { class: "unseen", for: "break" }, "Where to stop: a quantity, a bound such as loss < 0.4, nan, step 40 or shape 150x3"), this.#break,
    h("button", { type: "button", class: "tool", "aria-label": "Run back to the break", onclick: () => run(true) }, "◀ back"),
    h("button", { type: "submit", class: "tool", "aria-label": "Run on to the break" }, "run ▶"),
    this.#came);
  }

  /** remember keeps the text of the break with how the document is looked at. */
  #remember() {
    const { view } = this.#workspace;
    if (view.breaks === this.#break.value) return;
    view.breaks = this.#break.value;
    this.#workspace.fire("break");
  }

  /** run goes on, or back, through the trained steps to where what the field says holds. */
  run(back) {
    const w = this.#workspace;
    const { doc, step } = w;
    this.#remember();
    this.#came.textContent = "running…";
    const failed = (e) => (this.#came.textContent = e.message);
    (this.#running ??= new api.Latest(failed)).restart((signal) => api.runToBreak(doc.id, step, this.#at, this.#break.value, back, signal), async (r) => {
      if (r.hit) {
        if (r.step !== step) await w.goTo(r.step);
        this.go(r.i);
      }
      this.#came.textContent = r.hit ? `Stopped by ${r.hit}: step ${r.step}, instruction ${r.i}` : `Nothing stops ${back ? "before, back to where training begins" : "further on, to the last step that was trained"}.`;
      this.#tell(this.#came.textContent);
    });
  }

  /** go walks to an instruction and selects its node. */
  go(to, select = true) {
    if (this.#listing.length === 0) return;
    this.#at = Math.max(0, Math.min(this.#listing.length - 1, to));
    const top = this.#at * height;
    const s = this.#scroller;
    if (top < s.scrollTop || top + height > s.scrollTop + s.clientHeight) s.scrollTop = top - s.clientHeight / 2;
    this.#draw();
    const line = this.#listing[this.#at];
    this.#place.textContent = `${this.#at + 1} of ${this.#listing.length}`;
    if (select) {
      this.#tell(`Instruction ${this.#at + 1}: ${line.op} gives ${line.result}`);
      if (line.node) {
        this.#following = true;
        this.#drawing.jump(line.node);
        this.#following = false;
      }
    }
    this.#explain();
    this.#workspace.fire("instruction");
  }

  #following = false;

  /** meet goes where the selected node is computed. */
  #meet() {
    if (this.#following || !this.visible || this.#doc !== this.#workspace.doc?.id) return;
    const node = this.#workspace.view.selection?.node;
    const i = this.#listing.findIndex((l) => l.node && l.node === node);
    if (i >= 0 && i !== this.#at) this.go(i, false);
  }

  #draw() {
    const s = this.#scroller;
    const from = Math.max(0, Math.floor(s.scrollTop / height) - spare);
    const to = Math.min(this.#listing.length, Math.ceil((s.scrollTop + (s.clientHeight || 300)) / height) + spare);
    fill(this.#lines, this.#listing.slice(from, to).map((l, k) => {
      const i = from + k;
      const line = h("div", { class: "line", role: "option", id: "instruction-" + i, "data-i": i, "aria-selected": String(i === this.#at), "aria-setsize": this.#listing.length, "aria-posinset": i + 1 },
        h("span", { class: "i" }, i), h("span", { class: "bracket" }, l.bracket ?? ""), h("span", { class: "result" }, l.result), h("span", { class: "op" }, l.op),
        h("span", { class: "operands" }, (l.operands ?? []).join(", ")));
      line.style.top = i * height + "px";
      return line;
    }));
    s.setAttribute("aria-activedescendant", "instruction-" + this.#at);
  }

  #explain() {
    const { doc, step } = this.#workspace;
    const line = this.#listing[this.#at];
    if (!doc || !line) return;
    this.#detail.run((signal) => api.instruction(doc.id, this.#at, step, signal), (x) => {
      const part = (p, title) => p && h("details", { open: title !== "operand" },
        h("summary", {}, `${title} `, h("b", {}, p.label)), cells(p), statistics(p.stats, "Distribution"));
      fill(this.#present,
        h("h3", {}, `Instruction ${x.i ?? this.#at}`),
        h("p", { class: "code" }, x.text ?? line.op),
        x.formula && h("p", { class: "plain-formula" }, typeof x.formula === "string" ? x.formula : x.formula.unicode),
        h("dl", { class: "facts" }, [["offset", line.offset], ["bytes", line.bytes !== undefined && bytes(line.bytes)], ["in place", line.inplace && "yes"],
          ["work", line.flops ? count(line.flops) + " flop" : null], ["time", line.time && seconds(line.time)]]
          .filter(([, v]) => v !== undefined && v !== null && v !== false).map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v)))),
        part(x.result, "result"), part(x.gradient, "gradient"), (x.operands ?? []).map((o) => part(o, "operand")));
    });
  }
}

function cells(p) {
  if (!p.cells?.length) return null;
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Values of " + p.label },
    h("table", {}, h("tbody", {}, p.cells.map((row) => h("tr", {}, row.map((c) => h("td", {}, String(c).replaceAll("-", "−"))))))));
}
