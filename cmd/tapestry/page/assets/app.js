// The page: makes its parts and connects them to the workspace.
import * as api from "./api.js";
import { AutopsyPanel } from "./autopsy.js";
import { Documents } from "./documents.js";
import { Drawing } from "./drawing.js";
import { Editor } from "./editor.js";
import { byID, fill, h } from "./element.js";
import { derivation } from "./formula.js";
import { bind } from "./keys.js";
import { NodePanel } from "./node.js";
import { Outline } from "./outline.js";
import { places, tabs } from "./panels.js";
import { Picker } from "./picker.js";
import { RewritesPanel } from "./rewrites.js";
import { Runs } from "./runs.js";
import { Search } from "./search.js";
import { TapePanel } from "./tape.js";
import { Training } from "./training.js";
import { Workspace } from "./workspace.js";

const workspace = new Workspace();

/** tell says something to readers who cannot see it happen. */
function tell(text) {
  byID("told").textContent = text;
}

// A mistake stays until it is dismissed or something else is done.
const failure = byID("failure");
workspace.addEventListener("failure", ({ detail }) => {
  fill(failure.querySelector("p"), detail.message, detail.caret && h("pre", {}, detail.caret));
  failure.hidden = false;
  if (!(detail instanceof api.Failure)) throw detail; // a mistake of the page itself belongs on the console
});
failure.querySelector("button").addEventListener("click", () => (failure.hidden = true));
workspace.addEventListener("drawn", () => (failure.hidden = true));

const drawing = new Drawing(workspace, tell);
const picker = new Picker(workspace);
const training = new Training(workspace, tell);
const search = new Search(workspace, drawing);
const tape = new TapePanel(workspace, drawing, tell);
const runs = new Runs(tell, (e) => workspace.fail(e));
const rewrites = new RewritesPanel(workspace, tell);
new Editor(workspace);
new Documents(workspace, drawing);
new NodePanel(workspace, drawing);
new Outline(workspace, drawing);

// What is drawn.
const level = byID("level");
const overlay = byID("overlay");
const grad = byID("grad");
level.addEventListener("change", () => workspace.look({ level: level.value, open: new Set(), closed: new Set() }));
overlay.addEventListener("change", () => workspace.look({ overlay: overlay.value }, { keep: true }));
grad.addEventListener("change", () => workspace.look({ grad: grad.checked }));
workspace.addEventListener("doc", () => {
  const { doc, view } = workspace;
  const levels = doc?.levels ?? ["notes", "ops", "primitive", "compiled"];
  fill(level, levels.map((l) => h("option", { value: l, selected: l === view.level }, l)));
  overlay.value = view.overlay;
  grad.checked = view.grad;
  for (const c of [level, overlay, grad]) c.disabled = !doc;
});
workspace.addEventListener("selection", () => {
  if (workspace.view.selection && matchMedia("(max-width: 760px)").matches) tell("Selected. The part Details says more.");
});
byID("zoom-in").addEventListener("click", () => drawing.zoom(1.25));
byID("zoom-out").addEventListener("click", () => drawing.zoom(1 / 1.25));
byID("fit").addEventListener("click", () => drawing.fit());

// The panel beside the drawing.
const mathematics = new api.Latest((e) => fill(byID("mathematics-panel"), h("p", { class: "note" }, e.message)));
function derive() {
  const panel = byID("mathematics-panel");
  if (panel.hidden) return;
  const { doc } = workspace;
  if (!doc) fill(panel, h("p", { class: "note" }, "Nothing is open yet."));
  else mathematics.run((signal) => api.derivation(doc.id, null, signal), (d) => fill(panel, h("h2", {}, doc.title), derivation(d)));
}
workspace.addEventListener("doc", derive);
const showPanel = tabs(byID("detail-tabs"), () => {
  tape.refresh();
  derive();
  rewrites.refresh();
});
const autopsy = new AutopsyPanel(workspace, drawing, showPanel);
training.stopped = (doc) => autopsy.stopped(doc);
places(document.querySelector("nav.places"));

// Downloads are links that the server answers with a file.
const kinds = { svg: "Drawing (SVG)", dot: "Graph (DOT)", latex: "Formulas (LaTeX)", listing: "Tape (text)", report: "Report (HTML)", tapestry: "Model (.tapestry)" };
byID("download-menu").addEventListener("beforetoggle", () => {
  const { doc, comparing } = workspace;
  const link = (kind, name, href) => h("li", {}, h("a", { href, download: "", "data-kind": kind }, name));
  const parameters = (kind) => kind === "svg" || kind === "dot" ? workspace.sheetParameters() : kind === "report" ? { with: comparing.join(",") } : null;
  fill(byID("downloads"), doc ? [
    drawing.against && link("comparison", "Comparison (SVG)", api.comparisonPath({ a: doc.id, b: drawing.against, ...workspace.sheetParameters() })),
    Object.entries(kinds).map(([kind, name]) => link(kind, name, api.downloadPath(doc.id, kind, parameters(kind)))),
  ] : h("li", { class: "note" }, "Nothing is open yet."));
});

// Light and dark.
const theme = byID("theme");
const dark = () => document.documentElement.dataset.theme === "dark";
const themed = () => theme.setAttribute("aria-pressed", String(dark()));
addEventListener("themechange", themed);
themed();
const turn = () => dispatchEvent(new CustomEvent("settheme", { detail: dark() ? "light" : "dark" }));
theme.addEventListener("click", turn);

// Keys.
const help = byID("help-dialogue");
const keys = [
  ["/", "find a node", () => search.focus()],
  ["m", "search models", () => go("models", "model-search")],
  ["g", "to the drawing", () => {
    document.body.dataset.tab = "drawing";
    drawing.focus();
  }],
  ["n", "details of the node", () => details("node-panel", "tab-node")],
  ["l", "listing of the tape", () => details("tape-panel", "tab-tape")],
  ["f", "formula and derivative", () => details("mathematics-panel", "tab-mathematics")],
  ["w", "rewrites, firing by firing", () => details("rewrites-panel", "tab-rewrites")],
  [",", "tape: step back", () => stepTape(-1)],
  [".", "tape: step forward", () => stepTape(1)],
  ["[", "training: a step back", () => workspace.goTo(workspace.step - 1)],
  ["]", "training: a step forward", () => workspace.goTo(workspace.step + 1)],
  ["s", "train", () => training.train()],
  ["p", "play the training", () => training.play()],
  ["r", "runs of training, and back", () => runs.show(!runs.shown)],
  ["d", "light or dark", turn],
  ["?", "these keys", () => help.showModal()],
];
function go(place, id) {
  document.body.dataset.tab = place;
  byID(id).focus();
}
function details(panel, tab) {
  document.body.dataset.tab = "details";
  showPanel(panel);
  byID(tab).focus();
}
function stepTape(way) {
  if (!tape.visible) showPanel("tape-panel");
  else tape.go(tape.at + way);
}
bind(Object.fromEntries(keys.map(([key, , act]) => [key, act])));
fill(byID("help-keys"), [...keys, ["← ↑ → ↓", "in the drawing: move it"], ["⇧ with these", "in the drawing: select the next node that way"], ["+ − 0", "in the drawing: larger, smaller, all of it"],
  ["Enter", "in the drawing: open or close the module"], ["t", "in the drawing: to the gradient or the value beside"]].map(([key, what]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, what))));
byID("help").addEventListener("click", () => help.showModal());

// Beginning.
const starts = [
  ["Soft k-means beside the goofy alternative", "Two objectives that look alike and learn differently", async () => {
    await picker.open({ model: "kmeans-softmax", data: "iris", settings: {} });
    await picker.open({ model: "kmeans-goofy", data: "iris", settings: {} }, true);
  }],
  ["A net with one input and ReLUs", "Small enough to follow every number", () => picker.open({ model: "regression-relu", settings: {} })],
  ["A transformer of 12 layers", "Large: modules open and close", () => picker.open({ model: "transformer-gpt", settings: { layers: 12 } })],
];
fill(byID("starts"), starts.map(([title, why, act]) => h("button", { type: "button", class: "start", onclick: act }, h("b", {}, title), h("span", {}, why))));

async function begin() {
  // Charts and drawings bring dark colours for readers who prefer them; here the
  // page's own switch decides.
  const style = document.createElement("style");
  style.textContent = (await (await fetch("/assets/chart.css")).text()).replace(/@media screen and \(prefers-color-scheme: ?dark\)/, ":root[data-theme=dark]");
  document.head.append(style);
  await Promise.all([picker.load(), workspace.refresh()]);
  await runs.begin(workspace.docs.length === 0);
  document.body.dataset.ready = "";
}
begin().catch((e) => workspace.fail(e));
