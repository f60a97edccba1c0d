// The engine of a page that stands alone: a worker answers, in the page itself, what
// otherwise a server does. reach takes and gives what fetch does.

/** alone is whether the page has no server: tapestry page --static has written it. */
export const alone = document.documentElement.dataset.engine === "worker";

export const reach = alone ? ask : (path, init) => fetch(path, init);

for (const it of document.querySelectorAll("[data-alone]")) it.hidden = !alone;

/** inside gives the bytes of a file that lies in the page itself, null where the page is a folder. */
function inside(name) {
  const text = document.querySelector(`script[data-file="${name}"]`)?.textContent;
  if (text === undefined) return null;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** file gives the text of a file of the page. */
export async function file(name) {
  const bytes = inside(name);
  return bytes ? new TextDecoder().decode(bytes) : (await fetch(new URL(name, import.meta.url))).text();
}

const waiting = new Map(); // what becomes of an answer, by the number of its question
let worker = null;
let broken = null; // why there will be no more answers
let last = 0;

function start() {
  const code = inside("worker.js");
  worker = code ? new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { name: "inside" }) : new Worker(new URL("worker.js", import.meta.url));
  if (code) {
    const { buffer } = inside("tapestry.wasm.gz");
    worker.postMessage({ engine: buffer }, [buffer]);
  }
  worker.onmessage = ({ data }) => (data.broken ? fail(data.broken) : waiting.get(data.id)?.(data));
  worker.onerror = (e) => fail(e.message || "The engine of the page cannot be loaded.");
}

function fail(why) {
  broken = why;
  for (const hear of [...waiting.values()]) hear({ broken: why });
}

function ask(path, { method = "GET", body = "", signal } = {}) {
  if (!worker) start();
  return new Promise((resolve, reject) => {
    if (broken) throw new Error(broken);
    signal?.throwIfAborted();
    const id = ++last;
    let stream = null;
    const end = () => {
      waiting.delete(id);
      signal?.removeEventListener("abort", stop);
    };
    const give = (why) => {
      end();
      reject(why);
      stream?.error(why);
    };
    const stop = () => {
      worker.postMessage({ id, stop: true });
      give(new DOMException("stopped", "AbortError"));
    };
    signal?.addEventListener("abort", stop);
    waiting.set(id, (said) => {
      if (said.broken) return give(new Error(said.broken));
      if (said.status) {
        const text = new ReadableStream({ start: (s) => void (stream = s), cancel: stop });
        resolve(new Response(text, { status: said.status, headers: { "Content-Type": said.kind, "X-Name": encodeURIComponent(said.name) } }));
      }
      if (said.text.length) stream.enqueue(said.text);
      if (said.done) {
        end();
        stream.close();
      }
    });
    const [place, query = ""] = path.split("?");
    worker.postMessage({ id, method, path: "/" + place, query, body }); // the engine has the page at its root
  });
}

/** save lets the browser save an answer as a file. */
export async function save(answer) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  const name = /filename\*=utf-8''([^;]+)/i.exec(answer.headers.get("Content-Disposition")) ?? /filename="?([^";]+)/.exec(answer.headers.get("Content-Disposition"));
  link.download = decodeURIComponent(answer.headers.get("X-Name") ?? name?.[1] ?? "") || "comparison.svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
