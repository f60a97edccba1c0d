// Talking to the server. Every function gives what the server answered, or throws
// a Failure with its words.
import { Ahead } from "./ahead.js";
import { alone, reach, save } from "./engine.js";
import { answer, gather, part } from "./frame.js";
import { begin } from "./progress.js";

/** Failure is an error the server told us, with the caret line of a notation file. */
export class Failure extends Error {
  constructor(message, status, caret) {
    super(message);
    this.status = status;
    this.caret = caret;
  }
}

let gone = () => {};

/** whenGone is called when a document turns out to be closed. */
export function whenGone(f) {
  gone = f;
}

const overlays = { grad: "Computing gradients", nan: "Looking for what is not finite", memory: "Drawing, with memory", time: "Timing the instructions", fusion: "Drawing, with what is fused", precision: "Computing in float64 beside", blame: "Checking the derivatives" };
const works = [
  [/^api\/open$|\/open$/, "Opening the model"], [/\/compare\/values$/, "Comparing values"], [/\/compare\/charts$|\/chart$/, "Drawing the charts"], [/^api\/compare/, "Comparing"], [/\/rewrites$/, "Compiling, and checking each rewrite by numbers"],
  [/\/sheet$/, "Drawing"], [/\/why$/, "Finding what the number is made of"], [/\/derivation$/, "Deriving"], [/\/moment$/, "Making the film strip"], [/\/tape$|\/instruction\//, "Running the tape"],
  [/\/break$/, "Running to the break"], [/\/autopsy$/, "Finding what is not finite"], [/\/download\/report$/, "Training for the report"], [/\/download\//, "Writing the file"], [/\/values$|\/loss$|\/node\//, "Computing the values"], [/\/parse$/, "Reading the text"],
];

const showing = "Showing the step";

/** workOf says what a request makes the engine do; null for what is never long. */
function workOf(path, init) {
  if (path === frames) return JSON.parse(init.body).parts.map((p) => workOf(p)).find((what) => Object.values(overlays).includes(what)) ?? showing;
  const [place, query] = path.split("?");
  return overlays[new URLSearchParams(query).get("overlay")] ?? works.find(([of]) => of.test(place))?.[1] ?? null;
}

/** ask shows the request if it takes long, and lets the reader stop it, which is a Failure. */
async function ask(path, init = {}) {
  const what = workOf(path, init);
  if (!what) return told(path, init);
  return watched(what, init.signal, async (signal) => {
    const answer = await told(path, { ...init, signal });
    return new Response(await answer.arrayBuffer(), answer); // all of it: a large answer takes its time, and would be too large for a blob
  });
}

/** watched is ask for any work(signal), which what says. */
async function watched(what, outer, work) {
  const control = new AbortController();
  const drop = () => control.abort();
  outer?.throwIfAborted();
  outer?.addEventListener("abort", drop);
  let stopped = false;
  const shown = begin(what, () => {
    stopped = true;
    drop();
  });
  try {
    return await work(control.signal);
  } catch (e) {
    throw stopped ? new Failure(`Stopped: ${what[0].toLowerCase()}${what.slice(1)}.`, 0) : e;
  } finally {
    shown.end();
    outer?.removeEventListener("abort", drop);
  }
}

const under = []; // paths of the requests under way

async function told(path, init) {
  let answer;
  const asked = path === frames || path === inAdvance ? JSON.parse(init.body).parts : [path];
  try {
    under.push(asked);
    answer = await reach(path, init).finally(() => under.splice(under.indexOf(asked), 1));
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Failure(alone ? e.message : "The server does not answer. Is “tapestry serve” still running?", 0);
  }
  if (!answer.ok) {
    let told = {};
    try {
      told = await answer.json();
    } catch {
      // not JSON: the status must do
    }
    throw failed(answer.status, told);
  }
  return answer;
}

/** failed is the Failure that an answer with an error is. */
function failed(status, told) {
  if (status === 410) gone();
  return new Failure(told.error ?? `The server answered ${status}.`, status, told.caret);
}

function query(parameters) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (value !== undefined && value !== null && value !== "" && value !== false) q.set(name, value === true ? "1" : value);
  }
  const text = q.toString();
  return text && "?" + text;
}

async function get(path, parameters, signal) {
  const whole = path + query(parameters);
  return part(whole, signal) ?? (await ask(whole, { signal })).json();
}

async function text(path, parameters, signal) {
  const whole = path + query(parameters);
  return part(whole, signal) ?? (await ask(whole, { signal })).text();
}

const frames = "api/frame";
const inAdvance = frames + "?ahead"; // is answered alike

const ahead = new Ahead(async (paths, signal, early) => {
  const init = { ...posted({ parts: paths }), signal };
  return (await (early ? told(inAdvance, init) : ask(frames, init))).text();
}, (signal, work) => watched(showing, signal, work));
let framed = []; // paths of the frame that was asked for last

/** foresee asks for what was asked together last, at another step than that: it will probably be shown next. */
export function foresee(step, next) {
  const other = new RegExp(`([?&]step=)${step}(?=&|$)`);
  if (framed.length > 0) ahead.prepare(framed.map((path) => path.replace(other, "$1" + next)));
}

/** forget lets go of what was asked for ahead: it may be otherwise now. */
export const forget = () => ahead.forget();

/**
 * together asks at once for all that act asks for, and calls then in the task in which that is
 * there, before any of it is used. It gives {stop, done}: done is resolved when all was used, and
 * stop gives it up.
 */
export function together(act, then) {
  const control = new AbortController();
  const parts = gather(act);
  framed = [];
  if (parts.length === 0) {
    then();
    return { stop() {}, done: Promise.resolve() };
  }
  framed = parts.map((p) => p.path);
  const done = answer(parts, control, (paths, signal) => ahead.answers(paths, signal), (a) => failed(a.status, a.body), then).then(() => new Promise((used) => setTimeout(used)));
  return { stop: () => control.abort(), done };
}

const posted = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

function post(path, body, signal) {
  return ask(path, { ...posted(body), signal });
}

const at = (doc) => "api/docs/" + encodeURIComponent(doc);
const nodeAt = (doc, node) => at(doc) + "/node/" + encodeURIComponent(node);

export const optimisers = () => get("api/optimisers");
export const models = () => get("api/models");
export const docs = () => get("api/docs");
export const doc = (id) => get(at(id));
export const standing = () => get("api/shelf");
export const open = async (what) => (await post("api/open", what)).json();

/** close closes a document, after the answers about it that are under way, if they come soon: it is not gone for those who asked before. */
export async function close(doc) {
  const about = new RegExp(`(?:[/=,]|%2C)${encodeURIComponent(doc)}(?!\\w)`);
  for (let i = 0; i < 20 && under.some((paths) => paths.some((path) => about.test(path))); i++) await new Promise((is) => setTimeout(is, 20));
  return ask(at(doc), { method: "DELETE" });
}

export const parse = async (what, signal) => (await post("api/parse", what, signal)).json();
export const sheet = (doc, parameters, signal) => get(at(doc) + "/sheet", parameters, signal);
export const node = (doc, id, step, signal) => get(nodeAt(doc, id), { step }, signal);
export const values = (doc, id, parameters, signal) => get(nodeAt(doc, id) + "/values", parameters, signal);
export const place = (doc, id, parameters, signal) => get(nodeAt(doc, id) + "/place", parameters, signal);
export const why = (doc, id, parameters, signal) => get(nodeAt(doc, id) + "/why", parameters, signal);
export const words = (doc, parameters, signal) => get(at(doc) + "/words", parameters, signal);
export const moment = (doc, step, level, signal) => get(at(doc) + "/moment", { step, level }, signal);
export const terms = (doc, step, signal) => get(at(doc) + "/terms", { step }, signal);
export const tape = (doc, step, signal) => get(at(doc) + "/tape", { step }, signal);
export const instruction = (doc, i, step, signal) => get(at(doc) + "/instruction/" + i, { step }, signal);
export const history = (doc, signal) => get(at(doc) + "/history", null, signal);
export const loss = (doc, step, signal) => get(at(doc) + "/loss", { step }, signal);
export const chart = (doc, kind, step, signal, row) => text(at(doc) + "/chart", { kind, step, row }, signal);
export const derivation = (doc, node, signal) => get(at(doc) + "/derivation", { node }, signal);
export const autopsy = (doc, step, signal) => get(at(doc) + "/autopsy", { step }, signal);
export const runToBreak = (doc, step, i, text, back, signal) => get(at(doc) + "/break", { step, at: i, break: text, back }, signal);
export const rewrites = (doc, signal) => get(at(doc) + "/rewrites", null, signal);
export const firingSheet = (doc, firing, signal) => get(at(doc) + "/rewrites/" + firing + "/sheet", null, signal);
export const examples = () => get("api/examples");
export const compare = (parameters, signal) => get("api/compare", parameters, signal);
export const compareValues = (parameters, signal) => get("api/compare/values", parameters, signal);
export const compareCharts = (docs, step, signal) => get("api/compare/charts", { docs: docs.join(","), step }, signal);
export const runs = () => get("api/runs");
export const runsAt = (parameters, signal) => get("api/runs/at", parameters, signal);
export const openRun = async (run) => (await post("api/runs/" + encodeURIComponent(run) + "/open", {})).json();
export const runsChart = (parameters, signal) => text("api/runs/chart", parameters, signal);
export const comparisonPath = (parameters) => "api/compare/svg" + query(parameters);
export const downloadPath = (doc, kind, parameters) => at(doc) + "/download/" + kind + query(parameters);

/** reports is whether there is a report to download. */
export const reports = !alone;

// A link to a file is followed here: what takes long is shown and can be stopped.
document.addEventListener("click", (e) => {
  const path = e.target.closest?.("a[download]")?.getAttribute("href");
  if (!path?.startsWith("api/") || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  ask(path).then(save).catch((why) => dispatchEvent(new CustomEvent("unsaved", { detail: why instanceof Failure ? why : new Failure(why.message, 0) })));
});

/** train asks for steps and calls told with each {step, loss}. */
export async function train(doc, steps, told, signal) {
  const answer = await post(at(doc) + "/train", { steps }, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line) tell(JSON.parse(line), told);
    }
  }
  if (rest.trim()) tell(JSON.parse(rest), told);
}

function tell(line, told) {
  if (line.error) throw new Failure(line.error, 500);
  told(line);
}

/**
 * Latest runs asynchronous work of which only the newest counts: a new call makes
 * the one before it stop. While one is under way it waits, so that a slider asks for
 * what it shows now and not for everything it passed.
 */
export class Latest {
  #running = null;
  #next = null;
  constructor(failed) {
    this.failed = failed;
  }

  /** run calls work(signal) and then use(result), unless something newer came. */
  run(work, use) {
    this.#next = { work, use };
    if (!this.#running) this.#start();
  }

  /** restart is run, but stops what is under way at once. */
  restart(work, use) {
    this.#running?.abort();
    this.run(work, use);
  }

  stop() {
    this.#next = null;
    this.#running?.abort();
  }

  async #start() {
    while (this.#next) {
      const { work, use } = this.#next;
      this.#next = null;
      const control = (this.#running = new AbortController());
      try {
        const result = await work(control.signal);
        if (!control.signal.aborted) await use(result);
      } catch (e) {
        if (!control.signal.aborted && e.name !== "AbortError") this.failed(e);
      }
    }
    this.#running = null;
  }
}
