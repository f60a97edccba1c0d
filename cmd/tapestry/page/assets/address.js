// The address of what is shown: everything that it takes to see the same again, on this
// machine or another, in the part of the page's URL behind #. See Link for the way back.
//
// Documents are named by what opens them and not by their ids; a text travels with it.
// What is as usual is left out, and an address of a later version is read as far as it goes.

const usual = { level: "notes", overlay: "none", grad: true, tab: "node" };
const lists = ["open", "closed"];
const numbers = ["seed", "rate", "steps"];

/**
 * encode gives the address of a state:
 * docs: [{opening, identity, steps}], at: which of them is shown, beside: which it is compared
 * with, against: which of these is drawn with it, aligned; step: the one that is shown, null
 * for the last; level, grad, overlay, open, closed, times: of loops by their paths, node, drawn: its id in the drawing, of: its
 * document, element, why: the node and indices of the number that is explained, tab, breaks, firing, instruction: of the tape, camera: {x, y, k} or null where the drawing is fitted;
 * runs: how the runs of logs are looked at, null where the models are.
 */
export async function encode(state) {
  const out = [];
  const put = (name, value) => out.push(name + "=" + escaped(value));
  if (state.runs) {
    const { smooth, log, logx, hide, order, find } = state.runs;
    put("runs", [`smooth:${smooth}`, log && "log", logx && "logx", ...hide.map((id) => `hide:${id}`), order && `order:${entry(order)}`, find && `find:${entry(find)}`].filter(Boolean).join(","));
  }
  if (!state.docs.length) return out.join("&");
  for (const d of state.docs) put("doc", (await pairs(d)).join(";"));
  if (state.docs.length > 1) put("at", state.at);
  if (state.beside.length) put("beside", state.beside.join(","));
  if (state.beside.length > 1) put("against", state.against);
  if (state.beside.length && !state.aligned) put("aligned", "0");
  if (state.step !== null) put("step", state.step);
  for (const name of ["level", "overlay", "tab"]) if (state[name] !== usual[name]) put(name, state[name]);
  if (!state.grad) put("grad", "0");
  for (const name of lists) if (state[name].length) put(name, state[name].map(entry).join(","));
  const times = Object.entries(state.times).filter(([, t]) => t > 0);
  if (times.length) put("times", times.map(([path, t]) => t + "@" + entry(path)).join(","));
  if (state.node !== null) put("node", state.node);
  if (state.node !== null && state.drawn !== state.node) put("drawn", state.drawn ?? "");
  if (state.node !== null && state.of !== state.at) put("of", state.of);
  if (state.element) put("element", state.element.join(","));
  if (state.why) put("why", state.why.join(","));
  if (state.breaks) put("breaks", state.breaks);
  if (state.firing !== null) put("firing", state.firing);
  if (state.instruction) put("instruction", state.instruction);
  if (state.camera) put("camera", [state.camera.x.toFixed(1), state.camera.y.toFixed(1), state.camera.k.toFixed(4)].map(Number).join(","));
  return out.join("&");
}

/** decode gives the state of an address, or null if it names no document. */
export async function decode(address) {
  const found = { doc: [] };
  for (const part of address.replace(/^#/, "").split("&")) {
    const [name, value] = split(part, "=");
    const text = unescaped(value);
    if (name === "doc") found.doc.push(text);
    else found[name] = text;
  }
  const docs = (await Promise.all(found.doc.map((d) => describe(d).catch(() => null)))).filter(Boolean);
  const runs = found.runs === undefined ? null : runsOf(list(found.runs));
  if (!docs.length) return runs && { docs, at: 0, beside: [], of: -1, runs };
  const index = (text, otherwise) => (within(text, docs.length) ? +text : otherwise);
  const at = index(found.at, 0);
  const beside = list(found.beside).filter((i) => within(i, docs.length) && +i !== at).map(Number);
  const whole = (text) => (/^\d+$/.test(text ?? "") ? +text : null);
  const element = list(found.element).map(Number);
  const [x, y, k] = list(found.camera).map(Number);
  return {
    docs, at, beside, aligned: found.aligned !== "0",
    against: beside.includes(+found.against) ? +found.against : beside[0] ?? null,
    step: whole(found.step), level: found.level ?? usual.level, overlay: found.overlay ?? usual.overlay, tab: found.tab ?? usual.tab, grad: found.grad !== "0",
    open: list(found.open).map(unescaped), closed: list(found.closed).map(unescaped),
    times: Object.fromEntries(list(found.times).map((e) => split(e, "@")).filter(([t, path]) => /^\d+$/.test(t) && path).map(([t, path]) => [unescaped(path), +t])),
    node: found.node ?? null, drawn: found.drawn === undefined ? found.node ?? null : found.drawn || null, of: index(found.of, at),
    element: element.length && element.every((i) => Number.isInteger(i) && i >= 0) ? element : null,
    why: /^[\w@.-]+(,\d+)*$/.test(found.why ?? "") ? list(found.why) : null,
    breaks: found.breaks ?? "", firing: whole(found.firing), instruction: whole(found.instruction), runs,
    camera: [x, y, k].every(Number.isFinite) && k > 0 ? { x, y, k } : null,
  };
}

/** runsOf reads how the runs of logs are looked at. */
function runsOf(parts) {
  const after = (name) => parts.filter((p) => p.startsWith(name + ":")).map((p) => unescaped(p.slice(name.length + 1)));
  const smooth = Number(after("smooth")[0] ?? 90);
  return { smooth: smooth >= 0 && smooth <= 99 ? Math.round(smooth) : 90, log: parts.includes("log"), logx: parts.includes("logx"), hide: after("hide"), order: after("order")[0] ?? "", find: after("find")[0] ?? "" };
}

/** pairs are the facts of a document; a setting's name is preceded by a dot, or by a $ where it is a number, a fed scalar's by a colon, and by a ~ where it has a schedule. */
async function pairs({ opening, identity, steps }) {
  const out = [];
  const put = (name, value) => out.push(entry(name) + "=" + entry(value));
  for (const [name, value] of Object.entries(opening)) {
    if (name === "text") put(name, await packed(value));
    else if (name === "settings") for (const [s, v] of Object.entries(value)) put((typeof v === "string" ? "." : "$") + s, typeof v === "string" ? v : Number(v));
    else if (name === "courses") for (const [s, v] of Object.entries(value)) put("~" + s, v);
    else if (name === "scalars") for (const [s, v] of Object.entries(value)) put(":" + s, v);
    else put(name, value);
  }
  if (steps) put("steps", steps);
  if (identity) put("identity", identity);
  return out;
}

async function describe(text) {
  const opening = { settings: {}, scalars: {}, courses: {} };
  const d = { opening, identity: "", steps: 0 };
  for (const part of text.split(";")) {
    const [name, value] = split(part, "=").map(unescaped);
    if (name === "identity") d.identity = value;
    else if (name.startsWith(".")) opening.settings[name.slice(1)] = value;
    else if (name.startsWith("$")) opening.settings[name.slice(1)] = Number(value);
    else if (name.startsWith(":")) opening.scalars[name.slice(1)] = Number(value);
    else if (name.startsWith("~")) opening.courses[name.slice(1)] = value;
    else if (name === "text") opening.text = await unpacked(value);
    else if (name === "as_notes") opening.as_notes = value === "true";
    else if (numbers.includes(name)) (name === "steps" ? d : opening)[name] = Number(value) || 0;
    else if (["model", "name", "dtype", "optimiser", "schedule", "data", "run"].includes(name)) opening[name] = value;
  }
  return opening.model || opening.text ? d : null;
}

/** packed is a text in fewer letters, all of which a URL can have. */
async function packed(text) {
  const small = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer());
  let binary = "";
  for (const byte of small) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function unpacked(text) {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  const small = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const whole = await new Response(new Blob([small]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
  if (whole.length > 1 << 20) throw new Error("the text of the link is too long");
  return whole;
}

/** escaped leaves as it is what a fragment may have and people can read. */
function escaped(value) {
  return encodeURIComponent(value).replace(/%(2C|3B|3D|2F|3A|40|24)/gi, decodeURIComponent);
}

/** entry is a text within a list, whose signs it does not use. */
const entry = (text) => String(text).replace(/[%,;=]/g, encodeURIComponent);

function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function split(text, sign) {
  const i = text.indexOf(sign);
  return i < 0 ? [text, ""] : [text.slice(0, i), text.slice(i + 1)];
}

const list = (text) => (text ? text.split(",") : []);
const within = (text, n) => /^\d+$/.test(text ?? "") && +text < n;
