// Long work: what runs, for how long or how far, and a button that stops it. What is done
// within a moment is not worth a word.
import { byID } from "./element.js";
import { count } from "./quantity.js";

const patience = 500; // ms, after which work is shown
const beat = 250; // ms between two looks at it
const under = new Set();
let timer = 0;

/**
 * begin notes that work has begun, which stop ends. What it gives has at(done, of), which says how
 * far it is, and end().
 */
export function begin(what, stop) {
  const work = { what, stop, since: performance.now(), done: 0, of: 0 };
  under.add(work);
  timer ||= setInterval(draw, beat);
  return {
    at(done, of) {
      work.done = done;
      work.of = of;
    },
    end() {
      under.delete(work);
      draw();
    },
  };
}

/** long are the works that have been going on for long enough to be shown, the first first. */
function long() {
  const now = performance.now();
  return [...under].filter((w) => now - w.since >= patience);
}

function draw() {
  const bar = byID("progress");
  const all = long();
  bar.hidden = all.length === 0;
  if (under.size === 0) {
    clearInterval(timer);
    timer = 0;
  }
  if (bar.hidden) return;
  const [text, meter] = bar.children;
  const [w] = all;
  const others = all.length > 1 ? `, and ${all.length - 1} more` : "";
  const seconds = Math.floor((performance.now() - w.since) / 1000);
  const said = w.what + (w.of ? `: ${count(w.done)} of ${count(w.of)}` : seconds ? `, ${seconds} s` : "…") + others;
  if (text.textContent !== said) text.textContent = said;
  if (w.of) {
    meter.max = w.of;
    meter.value = w.done;
  } else meter.removeAttribute("value"); // how far is not known
}

byID("progress").querySelector("button").addEventListener("click", () => {
  for (const w of long()) w.stop();
});
