// The times of loops whose steps are drawn: the boxes of a step show the values of one time,
// which is chosen here, for one loop or for all that are drawn.
import { byID, fill, h } from "./element.js";

/** Times chooses at which time of the drawn loops values are shown. */
export class Times {
  #workspace;
  #tell;
  #host = byID("times");
  #loops = [];
  #path = ""; // of the loop that is chosen; "" for all

  constructor(workspace, tell) {
    this.#workspace = workspace;
    this.#tell = tell;
    workspace.addEventListener("drawn", ({ detail }) => this.#show(detail?.loops ?? []));
    workspace.addEventListener("doc", () => workspace.doc || this.#show([]));
  }

  /** show offers the loops of a drawing: [{path, steps, time}]. */
  #show(loops) {
    const same = (a) => a.map((l) => l.path + l.steps).join();
    const kept = same(loops) === same(this.#loops) && this.#host.firstChild;
    this.#loops = loops;
    this.#host.hidden = !loops.length;
    if (!loops.length) {
      this.#host.replaceChildren();
      return;
    }
    if (!loops.some((l) => l.path === this.#path)) this.#path = "";
    if (!kept) this.#build();
    this.#say();
  }

  #build() {
    const many = this.#loops.length > 1;
    fill(this.#host,
      many && h("label", {}, h("span", { class: "unseen" }, "Loop"), h("select", { id: "time-loop", onchange: (e) => {
        this.#path = e.target.value;
        this.#say();
      } }, h("option", { value: "" }, "all loops"), this.#loops.map((l) => h("option", { value: l.path, selected: l.path === this.#path }, l.path)))),
      h("label", { title: many ? "time of the loops" : "time of " + this.#loops[0].path }, "t = ", h("input", { id: "time", type: "range", min: "0", step: "1", "aria-label": many ? "Time of the loops" : "Time of " + this.#loops[0].path, oninput: (e) => this.#go(+e.target.value) })),
      h("output", { for: "time", id: "time-shown" }));
  }

  /** chosen are the loops that the slider moves. */
  get #chosen() {
    return this.#loops.filter((l) => !this.#path || l.path === this.#path);
  }

  #say() {
    const most = Math.max(...this.#chosen.map((l) => l.steps)) - 1;
    const times = this.#chosen.map((l) => l.time);
    const field = byID("time");
    field.max = most;
    if (document.activeElement !== field || +field.value > most) field.value = Math.max(...times);
    byID("time-shown").textContent = `${[...new Set(times)].sort((a, b) => a - b).join(", ")} of 0…${most}`;
  }

  #go(t) {
    const times = { ...this.#workspace.view.times };
    for (const l of this.#chosen) {
      l.time = Math.min(t, l.steps - 1);
      times[l.path] = l.time;
    }
    this.#workspace.look({ times }, { keep: true });
    this.#say();
    this.#tell("t = " + t);
  }
}
