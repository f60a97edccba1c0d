// Opening documents and bringing them to a step: what a link asks for, what another
// window closed, and what is begun anew. Long work shows how far it is and can be stopped.
import * as api from "./api.js";
import { begin } from "./progress.js";

/** Opener opens documents. */
export class Opener {
  /** bring opens what is described, unless an open document is given, and trains it to a step at least; stopped, it gives the document as far as it came. */
  async bring(opening, steps, open = null) {
    const doc = open ?? await api.open(opening);
    if (doc.steps < steps) await this.#train(doc, steps);
    return doc;
  }

  async #train(doc, steps) {
    const control = new AbortController();
    const work = begin(`Training ${doc.title}`, () => control.abort());
    work.at(doc.steps, steps);
    try {
      await api.train(doc.id, steps - doc.steps, (line) => {
        doc.steps = line.done ? line.steps ?? doc.steps : Math.max(doc.steps, line.step ?? 0);
        work.at(doc.steps, steps);
      }, control.signal);
    } catch (e) {
      if (!control.signal.aborted) throw e;
      doc.steps = (await api.history(doc.id)).steps;
    } finally {
      work.end();
    }
  }
}
