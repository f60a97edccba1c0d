// Keys that work anywhere on the page. Those of the drawing are in gestures.js.
import { typing } from "./element.js";

/** bind calls actions[key] when a key is pressed outside of text fields and dialogues. */
export function bind(actions) {
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || typing(e) || document.querySelector("dialog[open], [popover]:popover-open")) return;
    const act = actions[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  });
}
