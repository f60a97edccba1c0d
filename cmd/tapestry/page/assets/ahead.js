// Frames that are at hand before they are wanted: of the step that comes next if the reader goes on
// as before, and of the steps that were shown last.

const most = 3; // frames that are kept
const room = 8 << 20; // characters of their answers

/** Ahead keeps a few frames, as text, which takes less memory than what it says. */
export class Ahead {
  #send;
  #watched;
  #kept = new Map(); // texts by what they answer, the newest last
  #coming = null; // what is being asked for ahead: {key, text, control}

  /**
   * send(paths, signal, ahead) asks for a frame and gives its text; ahead is whether nobody waits
   * for it yet. watched(signal, work) shows that one is waited for, until work(signal) ends.
   */
  constructor(send, watched) {
    this.#send = send;
    this.#watched = watched;
  }

  /** answers gives the answers to paths. Those that are at hand are not asked for, those that are coming not again. */
  async answers(paths, signal) {
    const key = JSON.stringify(paths);
    if (this.#coming && this.#coming.key !== key) this.stop();
    const kept = this.#kept;
    const text = kept.get(key) ?? (this.#coming && (await this.#watched(signal, (until) => this.#arrival(until)))) ?? (await this.#send(paths, signal, false));
    signal.throwIfAborted();
    const { parts } = JSON.parse(text);
    keep(kept, key, text, parts);
    return parts;
  }

  /** arrival is the text of the frame that is coming, null if it fails. It stops with the signal. */
  async #arrival(signal) {
    signal.addEventListener("abort", () => this.stop());
    const text = await this.#coming.text;
    signal.throwIfAborted();
    return text;
  }

  /** prepare asks for a frame that will probably be wanted next. */
  prepare(paths) {
    const key = JSON.stringify(paths);
    if (this.#kept.has(key) || this.#coming?.key === key) return;
    this.stop();
    const control = new AbortController();
    const kept = this.#kept;
    const coming = { key, control };
    coming.text = this.#send(paths, control.signal, true).then((text) => (keep(kept, key, text, JSON.parse(text).parts), text), () => null).finally(() => this.#coming === coming && (this.#coming = null));
    this.#coming = coming;
  }

  /** stop ends what is asked for ahead. */
  stop() {
    this.#coming?.control.abort();
    this.#coming = null;
  }

  /** forget lets go of all frames, as what they show has changed. What still comes is not kept. */
  forget() {
    this.stop();
    this.#kept = new Map();
  }
}

/** keep keeps a frame without failures, which may be no more the next time. */
function keep(frames, key, text, parts) {
  frames.delete(key);
  if (parts.some((p) => p.status !== 200)) return;
  frames.set(key, text);
  let size = 0;
  for (const [old, held] of [...frames].reverse()) {
    size += held.length;
    if (size > room) frames.delete(old);
  }
  while (frames.size > most) frames.delete(frames.keys().next().value);
}
