// The worker of a page that stands alone: it loads the engine, hands it the page's
// questions, and the page its answers.
"use strict";
importScripts("wasm_exec.js");

const early = []; // questions from before the engine was there
let hear = (question) => early.push(question);
let given; // takes the engine, where it lies in the page
const engine = new Promise((is) => (given = is));
onmessage = ({ data }) => (data.engine ? given(data.engine) : hear(data));

// The engine calls pause to let the page's next messages in, and ready with its own function.
const resumes = [];
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => resumes.shift()();
self.pause = (resume) => {
  resumes.push(resume);
  port2.postMessage(null);
};
self.ready = (ask) => {
  hear = ask;
  for (const question of early) ask(question);
};

const decompressed = (bytes) => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();

// code gives the engine: the page's own, or fetched: compressed, since not every host compresses,
// unless the host gives the file decompressed already or the browser cannot do it.
async function code() {
  if (self.name === "inside") {
    if (!self.DecompressionStream) throw new Error("The engine of the page cannot be loaded: this browser is too old to decompress it.");
    return decompressed(await engine);
  }
  if (self.DecompressionStream) {
    const answer = await fetch("tapestry.wasm.gz");
    if (answer.ok) {
      const bytes = await answer.arrayBuffer();
      return new Uint8Array(bytes, 0, 2)[0] === 0x1f ? decompressed(bytes) : bytes;
    }
  }
  const answer = await fetch("tapestry.wasm");
  if (!answer.ok) throw new Error(`The engine of the page cannot be loaded: the host answered ${answer.status}.`);
  return answer.arrayBuffer();
}

async function run() {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await code(), go.importObject);
  await go.run(instance);
  throw new Error("The engine of the page has ended. Load the page again.");
}
run().catch((e) => postMessage({ broken: e.message }));
