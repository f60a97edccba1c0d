// The page: makes its parts and connects them to the workspace.
import * as api from "./api.js";
import { AutopsyPanel } from "./autopsy.js";
import { Documents } from "./documents.js";
import { Drawing } from "./drawing.js";
import { Editor } from "./editor.js";
import { byID, fill, h } from "./element.js";
import { file } from "./engine.js";
import { derivation } from "./formula.js";
import { bind } from "./keys.js";
import { NodePanel } from "./node.js";
import { Link } from "./link.js";
import { Outline } from "./outline.js";
import { Opener } from "./opener.js";
import { Panels } from "./panels.js";
import { Picker } from "./picker.js";
import { RewritesPanel } from "./rewrites.js";
import { Runs } from "./runs.js";
import { Search } from "./search.js";
import { tabs } from "./tabs.js";
import { TapePanel } from "./tape.js";
import { Strip } from "./strip.js";
import { Times } from "./times.js";
import { Training } from "./training.js";
import { Workspace } from "./workspace.js";

const panels = new Panels();
const opener = new Opener();
const workspace = new Workspace(opener);

/** tell says something to readers who cannot see it happen. */
function tell(text) {
  byID("told").textContent = text;
}

// A mistake stays until it is dismissed or something else is done.
const failure = byID("failure");
workspace.addEventListener("failure", ({ detail }) => {
  if (detail.status === 410) return; // it opens again by itself
  fill(failure.querySelector("p"), detail.message, detail.caret && h("pre", {}, detail.caret));
  failure.hidden = false;
  if (!(detail instanceof api.Failure)) throw detail; // a mistake of the page itself belongs on the console
});
failure.querySelector("button").addEventListener("click", () => (failure.hidden = true));
workspace.addEventListener("drawn", () => (failure.hidden = true));

// What there is to see decides which panels there are at first, before the drawing is made for its room.
for (const type of ["doc", "compare"]) {
  workspace.addEventListener(type, () => {
    panels.mode = !workspace.doc ? "none" : workspace.comparing.length ? "compare" : "one";
    if (workspace.doc && panels.isOpen("models")) panels.uncover();
  });
}

const drawing = new Drawing(workspace, tell);
const picker = new Picker(workspace);
const training = new Training(workspace, tell, () => panels.isOpen("charts"));
panels.addEventListener("change", () => workspace.fire("panels"));
new Strip(workspace, drawing);
new Times(workspace, tell);
const search = new Search(workspace, drawing);
const tape = new TapePanel(workspace, drawing, tell);
const runs = new Runs(tell, (e) => workspace.fail(e));
const rewrites = new RewritesPanel(workspace, tell);
new Editor(workspace);
new Documents(workspace, drawing);
new NodePanel(workspace, drawing, () => panels.isOpen("details") && !byID("node-panel").hidden);
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
for (const type of ["view", "kept"]) {
  workspace.addEventListener(type, () => {
    const { view } = workspace;
    [level.value, overlay.value, grad.checked] = [view.level, view.overlay, view.grad];
  });
}
// What is selected is read in the details, which open by themselves unless the reader closed them.
workspace.addEventListener("selection", () => {
  if (!workspace.view.selection) return;
  panels.open("details", true);
  learnt();
});
workspace.addEventListener("history", () => {
  if (workspace.last > 0 && !panels.small) panels.open("charts", true);
});

// One line says what to click, until something was.
const hint = byID("hint");
const hinted = "tapestry-hint";
let knows = false;
try {
  knows = localStorage.getItem(hinted) !== null;
} catch {
  // storage may be forbidden
}
function learnt() {
  knows = true;
  hint.hidden = true;
  try {
    localStorage.setItem(hinted, "");
  } catch {
    // the line then comes again
  }
}
// It would lie over what a training shows.
for (const type of ["doc", "history"]) workspace.addEventListener(type, () => (hint.hidden = knows || !workspace.doc || workspace.last > 0));
hint.querySelector("button").addEventListener("click", learnt);
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
  else mathematics.run((signal) => api.derivation(doc.id, null, signal), (d) => fill(panel, h("h2", {}, workspace.called(doc.id)), derivation(d)));
}
workspace.addEventListener("doc", derive);
const chooseTab = tabs(byID("detail-tabs"), () => {
  tape.refresh();
  derive();
  rewrites.refresh();
  workspace.fire("tab");
});
function showPanel(panel) {
  panels.open("details");
  chooseTab(panel);
}
const autopsy = new AutopsyPanel(workspace, drawing, chooseTab);
training.stopped = async (doc) => {
  const explained = await autopsy.stopped(doc);
  if (explained) panels.open("details");
  return explained;
};

// The URL.
const tabNames = { get: () => byID("detail-tabs").querySelector('[aria-selected="true"]').id.replace("tab-", ""), show: (name) => {
  const tab = byID("tab-" + name);
  chooseTab((tab && !tab.hidden ? name : "node") + "-panel");
} };
const link = new Link(workspace, opener, drawing, tabNames, tell, tape, runs);
runs.opened = async ({ doc, notes, steps }, run) => {
  workspace.add(doc);
  runs.show(false);
  workspace.show(doc.id);
  if (steps > 0) byID("steps").value = Math.min(steps, 100000);
  fill(byID("run-notes"), h("p", {}, h("b", {}, `${workspace.called(doc.id)}, as trained in ${run.name}`)), notes.map((n) => h("p", {}, n)));
  byID("run-opened").hidden = false;
};
byID("run-opened").querySelector("button").addEventListener("click", () => (byID("run-opened").hidden = true));
byID("missing").querySelector("button").addEventListener("click", () => (byID("missing").hidden = true));
document.querySelector(".skip").addEventListener("click", (e) => {
  e.preventDefault(); // the part of the URL behind # says what is shown
  drawing.focus();
});

// Downloads are links that the server answers with a file.
const kinds = { svg: "Drawing (SVG)", dot: "Graph (DOT)", latex: "Formulas (LaTeX)", listing: "Tape (text)", report: "Report (HTML)", tapestry: "Model (.tapestry)" };
byID("download-menu").addEventListener("beforetoggle", () => {
  const { doc, comparing } = workspace;
  const link = (kind, name, href) => h("li", {}, h("a", { href, download: "", "data-kind": kind }, name));
  const parameters = (kind) => kind === "svg" || kind === "dot" ? workspace.sheetParameters() : kind === "report" ? { with: comparing.join(",") } : null;
  fill(byID("downloads"), doc ? [
    drawing.against && link("comparison", "Comparison (SVG)", api.comparisonPath({ a: doc.id, b: drawing.against, ...workspace.sheetParameters() })),
    Object.entries(kinds).filter(([kind]) => kind !== "report" || api.reports).map(([kind, name]) => link(kind, name, api.downloadPath(doc.id, kind, parameters(kind)))),
  ] : h("li", { class: "note" }, "Nothing is open yet."));
});
addEventListener("unsaved", ({ detail }) => workspace.fail(detail));

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
    panels.uncover();
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
  ["1", "models, and away with them", () => panels.toggle("models")],
  ["2", "details", () => panels.toggle("details")],
  ["3", "charts", () => panels.toggle("charts")],
  ["4", "training", () => panels.toggle("training")],
  ["Escape", "select nothing", () => {
    if (panels.small) panels.uncover();
    workspace.select(null);
  }],
  ["r", "runs of training, and back", () => runs.show(!runs.shown)],
  ["c", "copy a link to what is shown", () => workspace.doc && link.copy()],
  ["d", "light or dark", turn],
  ["?", "these keys", () => help.showModal()],
];
function go(place, id) {
  panels.open(place);
  byID(id).focus();
}
function details(panel, tab) {
  showPanel(panel);
  byID(tab).focus();
}
function stepTape(way) {
  if (!tape.visible) showPanel("tape-panel");
  else tape.go(tape.at + way);
}
bind(Object.fromEntries(keys.map(([key, , act]) => [key, act])));
fill(byID("help-keys"), [...keys, ["← ↑ → ↓", "in the drawing: move it"], ["⇧ with these", "in the drawing: select the next node that way"], ["+ − 0", "in the drawing: larger, smaller, fitted (again: all of it)"],
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

// What other windows on the server do is asked for: a question a second is cheap, is true for
// every browser, and holds no connection.
const beat = 1000; // ms
let asking = 0;
async function listen() {
  clearTimeout(asking);
  if (document.hidden) return;
  await workspace.sync().catch(() => {}); // the next thing that is done says that the server is gone
  asking = setTimeout(listen, beat);
}
document.addEventListener("visibilitychange", listen);

async function begin() {
  // Charts and drawings bring dark colours for readers who prefer them; here the
  // page's own switch decides.
  const style = document.createElement("style");
  style.textContent = (await file("chart.css")).replace(/@media screen and \(prefers-color-scheme: ?dark\)/, ":root[data-theme=dark]");
  document.head.append(style);
  await Promise.all([picker.load(), training.load(), workspace.refresh()]);
  await runs.begin(workspace.docs.length === 0);
  await link.begin();
  document.body.dataset.ready = "";
  listen();
}
begin().catch((e) => workspace.fail(e));
