// Making elements. Text always goes through text nodes; only markup that our own
// server wrote (SVG, MathML) is ever parsed, by markup().

/**
 * h makes an element: h("button", {class: "tool", onclick: f}, "text", child…).
 * A property that starts with "on" is a listener; true and false set and leave out
 * an attribute; null and undefined are left out.
 */
export function h(tag, properties, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (name === "value") e.value = value;
    else e.setAttribute(name, value === true ? "" : value);
  }
  append(e, children);
  return e;
}

/** fill replaces the children of an element. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
  return parent;
}

/**
 * place makes elements the children of a parent, in order, and touches only what is not there
 * yet.
 */
export function place(parent, elements) {
  const wanted = new Set(elements);
  for (const e of [...parent.childNodes]) if (!wanted.has(e)) e.remove();
  elements.forEach((e, i) => parent.childNodes[i] !== e && parent.insertBefore(e, parent.childNodes[i] ?? null));
}

/**
 * become makes an element like another, and writes only what differs. What stays keeps its
 * listeners; those of the other are lost.
 */
export function become(old, like) {
  if (old.nodeName !== like.nodeName) {
    old.replaceWith(like);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== like.data) old.data = like.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!like.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of like.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  refill(old, like.childNodes);
}

/** refill is fill by become: the children that were there become like these. */
export function refill(parent, children) {
  const before = [...parent.childNodes];
  [...children].forEach((e, i) => (before[i] ? become(before[i], e) : parent.append(e)));
  for (const e of before.slice(children.length)) e.remove();
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child);
  }
}

/** markup parses SVG or MathML of our own server. */
export function markup(text) {
  const t = document.createElement("template");
  t.innerHTML = text ?? "";
  return t.content;
}

/** byID finds an element of index.html. */
export function byID(id) {
  return document.getElementById(id);
}

/** typing reports whether a key event belongs to a field that takes text. */
export function typing(event) {
  const e = event.target;
  return e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement ||
    (e instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(e.type));
}

/** calm reports whether the reader asked for less motion. */
export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
