// Talking to the server. Every function gives what the server answered, or throws
// a Failure with its words.

/** Failure is an error the server told us, with the caret line of a notation file. */
export class Failure extends Error {
  constructor(message, status, caret) {
    super(message);
    this.status = status;
    this.caret = caret;
  }
}

async function ask(path, init) {
  let answer;
  try {
    answer = await fetch(path, init);
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Failure("The server does not answer. Is “tapestry serve” still running?", 0);
  }
  if (!answer.ok) {
    let told = {};
    try {
      told = await answer.json();
    } catch {
      // not JSON: the status must do
    }
    throw new Failure(told.error ?? `The server answered ${answer.status}.`, answer.status, told.caret);
  }
  return answer;
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
  return (await ask(path + query(parameters), { signal })).json();
}

async function text(path, parameters, signal) {
  return (await ask(path + query(parameters), { signal })).text();
}

function post(path, body, signal) {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
}

const at = (doc) => "/api/docs/" + encodeURIComponent(doc);
const nodeAt = (doc, node) => at(doc) + "/node/" + encodeURIComponent(node);

export const optimisers = () => get("/api/optimisers");
export const models = () => get("/api/models");
export const docs = () => get("/api/docs");
export const open = async (what) => (await post("/api/open", what)).json();
export const close = (doc) => ask(at(doc), { method: "DELETE" });
export const parse = async (what, signal) => (await post("/api/parse", what, signal)).json();
export const sheet = (doc, parameters, signal) => get(at(doc) + "/sheet", parameters, signal);
export const node = (doc, id, step, signal) => get(nodeAt(doc, id), { step }, signal);
export const values = (doc, id, parameters, signal) => get(nodeAt(doc, id) + "/values", parameters, signal);
export const tape = (doc, step, signal) => get(at(doc) + "/tape", { step }, signal);
export const instruction = (doc, i, step, signal) => get(at(doc) + "/instruction/" + i, { step }, signal);
export const history = (doc, signal) => get(at(doc) + "/history", null, signal);
export const chart = (doc, kind, step, signal) => text(at(doc) + "/chart", { kind, step }, signal);
export const derivation = (doc, node, signal) => get(at(doc) + "/derivation", { node }, signal);
export const autopsy = (doc, step, signal) => get(at(doc) + "/autopsy", { step }, signal);
export const runToBreak = (doc, step, i, text, back, signal) => get(at(doc) + "/break", { step, at: i, break: text, back }, signal);
export const rewrites = (doc, signal) => get(at(doc) + "/rewrites", null, signal);
export const firingSheet = (doc, firing, signal) => get(at(doc) + "/rewrites/" + firing + "/sheet", null, signal);
export const examples = () => get("/api/examples");
export const compare = (parameters, signal) => get("/api/compare", parameters, signal);
export const compareCharts = (docs, step, signal) => get("/api/compare/charts", { docs: docs.join(","), step }, signal);
export const runs = () => get("/api/runs");
export const runsChart = (parameters, signal) => text("/api/runs/chart", parameters, signal);
export const comparisonPath = (parameters) => "/api/compare/svg" + query(parameters);
export const downloadPath = (doc, kind, parameters) => at(doc) + "/download/" + kind + query(parameters);

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
