// What the page shows and does. What trains is between the lines below: it knows nothing of the net
// but the names that go in and come out.

const element = id => document.getElementById(id);
const bytes = id => Uint8Array.from(atob(element(id).textContent), c => c.charCodeAt(0));
const file = (id, type) => URL.createObjectURL(new Blob([bytes(id)], {type}));
const course = JSON.parse(element("course").textContent);

// ---------------------------------------------------------------- training

class Training {
  static async load() {
    const ort = await import(file("ort", "text/javascript"));
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmPaths = {mjs: file("glue", "text/javascript"), wasm: file("wasm", "application/wasm")};
    const t = new Training();
    t.ort = ort;
    t.model = await ort.InferenceSession.create(bytes("step"));
    t.first = await ort.InferenceSession.create(bytes("begin"));
    t.updated = t.model.outputNames.filter(name => name.endsWith(".next")).map(name => name.slice(0, -5));
    await t.begin();
    return t;
  }

  // begin takes the values that training begins with.
  async begin() { this.held = await this.first.run({}); }

  // step trains on a batch: what comes out as NAME.next goes in as NAME the next time.
  async step(batch) {
    const out = await this.model.run({...this.held, ...batch});
    for (const name of this.updated) this.held[name] = out[name + ".next"];
    return out.loss.data[0];
  }

  // look computes outputs on a batch, and trains nothing.
  async look(batch, ...names) { return this.model.run({...this.held, ...batch}, names); }
}

// -------------------------------------------------------------------- data

// rowsOf reads rows of 64 pixels and a digit.
function rowsOf(id) {
  const all = bytes(id), rows = [];
  for (let i = 0; i < all.length; i += 65) rows.push({ink: all.subarray(i, i + 64), digit: all[i + 64]});
  return rows;
}

function batchOf(ort, rows) {
  const x = new Float32Array(64 * rows.length);
  rows.forEach((row, i) => x.set(row.ink, 64 * i));
  return {
    x: new ort.Tensor("float32", x, [rows.length, 64]),
    y: new ort.Tensor("int32", Int32Array.from(rows, row => row.digit), [rows.length]),
  };
}

// ---------------------------------------------------------------- drawings

const svg = (name, attributes, text) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
};

const frame = {left: 46, right: 630, top: 10, bottom: 268};
const least = Math.log10(Math.min(...course.losses) * 0.8), most = Math.log10(Math.max(...course.losses) * 1.1);
const across = step => frame.left + (frame.right - frame.left) * step / (course.steps - 1);
const up = loss => frame.bottom - (frame.bottom - frame.top) * (Math.log10(Math.max(loss, 1e-9)) - least) / (most - least);
const path = losses => losses.map((v, i) => (i ? "L" : "M") + across(i).toFixed(1) + " " + up(v).toFixed(1)).join("");

function axes() {
  const curve = element("curve");
  for (const v of [3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001]) {
    if (up(v) > frame.bottom || up(v) < frame.top) continue;
    curve.append(svg("line", {class: "grid", x1: frame.left, x2: frame.right, y1: up(v), y2: up(v)}));
    curve.append(svg("text", {x: frame.left - 8, y: up(v) + 4, "text-anchor": "end"}, v));
  }
  for (let i = 0; i <= 4; i++) {
    const step = course.steps / 4 * i;
    curve.append(svg("text", {x: frame.left + (frame.right - frame.left) * i / 4, y: 290, "text-anchor": i == 4 ? "end" : "middle"}, i == 4 ? step + " steps" : step));
  }
  curve.append(svg("path", {class: "go", d: path(course.losses)}), svg("path", {class: "here", d: ""}));
}

// square adds a canvas of 8×8 pixels.
function square(to) {
  const c = document.createElement("canvas");
  c.width = c.height = 8;
  to.append(c);
  return c.getContext("2d");
}

function paint(at, colour) {
  const image = at.createImageData(8, 8);
  for (let i = 0; i < 64; i++) image.data.set([...colour(i), 255], 4 * i);
  at.putImageData(image, 0, 0);
}

const mix = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t);

class Drawings {
  constructor(rows) {
    axes();
    this.units = Array.from({length: 32}, () => square(element("weights")));
    this.rows = rows.slice(0, 60);
    this.shown = this.rows.map(row => {
      const figure = document.createElement("figure"), caption = document.createElement("figcaption");
      paint(square(figure), i => mix([245, 243, 238], [24, 26, 32], row.ink[i] / 16));
      figure.append(caption);
      element("digits").append(figure);
      return {figure, caption};
    });
  }

  losses(losses) {
    element("curve").querySelector(".here").setAttribute("d", path(losses));
    let off = 0;
    losses.forEach((v, i) => { off = Math.max(off, Math.abs(v - course.losses[i]) / Math.abs(course.losses[i])); });
    element("off").textContent = losses.length ? "largest difference " + off.toExponential(1) : "";
  }

  weights(w) {
    const large = Math.max(...w.data.map(Math.abs), 0.2);
    this.units.forEach((at, j) => paint(at, i => {
      const v = w.data[32 * i + j] / large;
      return mix([250, 249, 246], v > 0 ? [36, 86, 184] : [196, 78, 38], Math.sqrt(Math.abs(v)));
    }));
  }

  readings(z, rows) {
    let right = 0;
    rows.forEach((row, n) => {
      const scores = Array.from(z.data.subarray(10 * n, 10 * n + 10));
      const top = Math.max(...scores), read = scores.indexOf(top);
      right += read == row.digit;
      if (n >= this.shown.length) return;
      const sure = 1 / scores.reduce((sum, s) => sum + Math.exp(s - top), 0), {figure, caption} = this.shown[n];
      figure.className = read == row.digit ? "" : "wrong";
      caption.textContent = read;
      const small = document.createElement("small");
      small.textContent = Math.round(100 * sure) + "%";
      caption.append(small);
    });
    element("right").textContent = `${right} of ${rows.length} right, ${(100 * right / rows.length).toFixed(1)}%`;
    document.body.dataset.right = right / rows.length;
  }
}

// ------------------------------------------------------------------- page

const fit = rowsOf("fit"), test = rowsOf("test");
const drawings = new Drawings(test);
element("about").textContent = `${course.net}, batches of ${course.rows} of ${fit.length} digits of 8×8 pixels.`;

try {
  const training = await Training.load();
  const held = batchOf(training.ort, test);
  let losses = [], going = false;
  window.losses = () => losses;

  const show = async () => {
    drawings.losses(losses);
    drawings.weights(training.held["fc1/w"]);
    drawings.readings((await training.look(held, "z")).z, test);
    element("said").textContent = losses.length ? `step ${losses.length} of ${course.steps}, loss ${losses.at(-1).toPrecision(3)}` : "ready";
    document.body.dataset.step = losses.length;
  };
  const step = async () => {
    const at = course.rows * losses.length;
    losses.push(await training.step(batchOf(training.ort, course.batches.slice(at, at + course.rows).map(i => fit[i]))));
  };
  const buttons = () => {
    const done = losses.length >= course.steps;
    element("train").textContent = going ? "Pause" : "Train";
    element("train").disabled = done;
    element("one").disabled = going || done;
    element("again").disabled = going || !losses.length;
    document.body.toggleAttribute("data-done", done);
  };

  element("train").onclick = async () => {
    going = !going;
    buttons();
    while (going && losses.length < course.steps) {
      for (let i = 0; i < 4 && losses.length < course.steps; i++) await step();
      await show();
      await new Promise(requestAnimationFrame);
    }
    going = false;
    buttons();
  };
  element("one").onclick = async () => { await step(); await show(); buttons(); };
  element("again").onclick = async () => { losses = []; await training.begin(); await show(); buttons(); };

  await show();
  buttons();
  document.body.toggleAttribute("data-ready", true);
} catch (e) {
  element("said").textContent = "this browser cannot run it: " + e.message;
  throw e;
}
