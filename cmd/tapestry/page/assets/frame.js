// A frame is what the page asks at once about one step: one question, whose answer has all of
// it, so that everything that shows the step changes together.

let gathering = null; // parts of the frame that is being asked for

/**
 * gather has what act asks for, by part, become parts of a frame, and gives these: {path, signal,
 * resolve, reject}.
 */
export function gather(act) {
  const parts = (gathering = []);
  try {
    act();
  } finally {
    gathering = null;
  }
  return parts;
}

/** part asks for a path as a part of the frame that is being gathered; null without one. */
export function part(path, signal) {
  const parts = gathering;
  return parts && new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    parts.push({ path, signal, resolve, reject });
  });
}

/**
 * answer has the parts of a frame resolved by answers, {status, kind, body} each, that
 * send(paths, signal) gives in their order; failure(answer) is the error of one that failed. A
 * part that is given up fails at once; with the last of them, or with control, the question ends.
 * Once all are resolved, in the same task, then is called.
 */
export async function answer(parts, control, send, failure, then) {
  const wanted = new Set(parts);
  for (const p of parts) {
    const drop = () => {
      p.reject(p.signal.reason);
      wanted.delete(p);
      if (wanted.size === 0) control.abort();
    };
    if (p.signal?.aborted) drop();
    else p.signal?.addEventListener("abort", drop, { once: true });
  }
  try {
    const answers = await send(parts.map((p) => p.path), control.signal);
    parts.forEach((p, i) => (answers[i].status === 200 ? p.resolve(answers[i].body) : p.reject(failure(answers[i]))));
    then();
  } catch (e) {
    for (const p of parts) p.reject(e);
  }
}
