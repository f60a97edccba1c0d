// What a training goes by, beside Train: the optimiser, its rate, and the schedules of the scalars
// that change while it is trained. Each can be changed; what is shown then begins anew.
import * as api from "./api.js";
import { byID, fill, h } from "./element.js";
import { count, number } from "./quantity.js";

/** Plan is the line beside Train. */
export class Plan {
  #workspace;
  #tell;
  #begin;
  #said = byID("plan-said");
  #optimisers = [];
  #drawn = "";
  #changes = Promise.resolve(); // one after the other

  /** begin is called before a change, and ends what is under way. */
  constructor(workspace, tell, begin) {
    this.#workspace = workspace;
    this.#tell = tell;
    this.#begin = begin;
  }

  async load() {
    this.#optimisers = await api.optimisers();
    this.#drawn = "";
    this.show([], 0);
  }

  /** show shows what the documents are trained by, and what is fed at a step. Fields that say what is so stay as they are. */
  show(fed, step) {
    const { doc, together } = this.#workspace;
    if (!doc) return;
    const shown = JSON.stringify(together.map((d) => [d.id, going(d)]));
    if (shown !== this.#drawn) {
      this.#drawn = shown;
      if (this.#said.dataset.of !== together.map((d) => d.id).join()) this.#say("", false);
      const alike = together.every((d) => going(d) === going(together[0]));
      const focused = document.activeElement?.closest("#plan-fields") ? document.activeElement : null;
      fill(byID("plan-fields"), (alike ? [together] : together.map((d) => [d])).map((docs, i) => this.#group(docs, i, alike ? "" : this.#workspace.called(docs[0].id))));
      if (focused) goOn(focused, byID(focused.id));
    }
    this.#schedules(doc, together, fed, step);
  }

  /** group has the fields of documents that are trained alike. */
  #group(docs, i, title) {
    const [d] = docs;
    const courses = (d.courses ?? []).filter(() => d.opening);
    const own = !d.optimiser || !d.opening;
    return h("span", { class: "plan", role: "group", "aria-label": title ? "What trains " + title : "What it is trained by" },
      title && h("span", {}, title + ":"),
      own ? h("span", {}, d.optimiser ? `${d.optimiser}, rate ${number(d.rate)}` : "steps of its own") : [this.#choice(docs, i), this.#field(docs, i, "rate", d.schedule?.usual ? "falling rate" : "rate", rate(d), rated, d.schedule?.usual && `from there it goes as ${rounded(d.schedule.text)}`)],
      courses.map((c) => this.#field(docs, i, c.name, name(c), d.opening.courses?.[c.name] ?? usualCourse(c), (text) => ({ courses: scheduled(d, c.name, text) }))),
      d.as_notes && h("span", {}, "as the notes have it"));
  }

  #choice(docs, i) {
    const { optimiser } = docs[0];
    const choice = h("select", { id: `plan-${i}-optimiser`, "aria-label": "optimiser", "aria-describedby": "plan-said", onchange: () => this.#change(docs, choice, "optimiser", optimiser, { optimiser: choice.value }) },
      [...new Set([optimiser, ...this.#optimisers])].map((n) => h("option", { value: n, selected: n === optimiser }, n)));
    return choice;
  }

  #field(docs, i, what, label, before, change, about) {
    const id = `plan-${i}-${what}`;
    const field = h("input", { id, value: before, size: Math.min(18, Math.max(7, before.length)), autocomplete: "off", spellcheck: "false", "aria-describedby": "plan-said" });
    field.defaultValue = before; // what differs from it is being typed
    let done = before; // what was last tried
    const well = () => {
      field.removeAttribute("aria-invalid");
      this.#say("", false);
    };
    const commit = () => {
      const text = field.value.trim();
      if (text === done) return;
      done = text;
      field.defaultValue = field.value;
      if (text === before) well();
      else this.#change(docs, field, label, before, change(text));
    };
    field.addEventListener("input", () => {
      done = before;
      well();
    });
    field.addEventListener("keydown", (e) => {
      if (e.key === "Enter") commit();
      if (e.key !== "Escape") return;
      field.value = done = before;
      well();
    });
    field.addEventListener("change", commit);
    return h("span", { class: "pair", title: about || null }, h("label", { for: id }, label), field);
  }

  #change(...change) {
    this.#changes = this.#changes.then(() => this.#apply(...change)).catch((e) => this.#workspace.fail(e));
  }

  /** apply begins documents anew with something else; what is refused changes nothing. */
  async #apply(group, field, label, before, change) {
    const w = this.#workspace;
    const docs = group.map((d) => w.now(d.id)).filter(Boolean);
    const { id } = field;
    const steps = Math.max(...docs.map((d) => d.steps));
    this.#begin();
    try {
      await w.anew(docs, change);
    } catch (e) {
      if (!(e instanceof api.Failure)) throw e;
      field.setAttribute("aria-invalid", "true");
      this.#say(`${e.message}. Nothing is changed.`, true);
      return;
    }
    const said = `${label} ${before} is now ${byID(id)?.value || "the usual"}: at step 0, untrained` + (steps ? `. Before, ${count(steps)} steps were trained; Back returns to them.` : ".");
    this.#say(said, false);
    this.#tell(said);
  }

  #say(text, refused) {
    this.#said.textContent = text;
    this.#said.hidden = !text;
    this.#said.classList.toggle("refused", refused);
    this.#said.dataset.of = this.#workspace.together.map((d) => d.id).join();
  }

  /** schedules says what is fed in the course of a training. */
  #schedules(doc, together, fed, step) {
    const courses = [];
    const fedNow = (c) => {
      const values = c.of === doc && fed.find((f) => f.name === c.name)?.values;
      return values?.length ? values[Math.min(step, values.length - 1)] : undefined;
    };
    const begins = (c, d) => [undefined, c.from].includes(fedNow({ ...c, of: d })); // then the field says it
    for (const d of new Set([doc, ...together])) {
      for (const c of [d.schedule && { ...d.schedule, rate: true }, ...(d.courses ?? [])].filter((c) => c && !(c.usual && begins(c, d)))) {
        if (!courses.some((other) => other.name === c.name && other.text === c.text)) courses.push({ ...c, of: d });
      }
    }
    const now = (c) => (fedNow(c) === undefined ? "" : `, now ${number(fedNow(c))}`);
    const called = (c) => (c.rate ? "rate" : name(c)) + (courses.some((other) => other !== c && other.name === c.name) ? ` of ${this.#workspace.called(c.of.id)}` : "");
    const moving = [...new Set(courses.filter((c) => !c.rate && !Number.isFinite(Number(c.text))).map(name))];
    fill(byID("plan-schedules"),
      courses.map((c, i) => h("span", { class: "course" }, `${i > 0 ? " · " : ""}${called(c)} ${c.steps ? `${number(c.from)} → ${number(c.to)} over ${count(c.steps)} steps` : rounded(c.text)}${now(c)}`)),
      moving.length > 0 && h("span", {}, `: ${moving.join(" and ")} ${moving.length > 1 ? "change" : "changes"} the objective, so the loss may rise`));
  }
}

/** goOn lets somebody go on in a field with what was begun in the one whose place it takes. */
function goOn(was, field) {
  field?.focus();
  if (!field?.matches("input")) return;
  const { selectionStart: from, selectionEnd: to, value } = was;
  if (value !== was.defaultValue) field.value = value;
  if (from === 0 && to === value.length) field.select();
}

/** going is what a document is trained by, as a text to compare. */
const going = (d) => JSON.stringify([d.optimiser, d.rate, d.schedule?.text, (d.courses ?? []).map((c) => [c.name, c.text]), d.as_notes]);

/** rate is the text of a document's rate: as it was asked for, or of the usual one where it begins. */
const rate = (d) => (d.schedule && !d.schedule.usual ? d.schedule.text : d.opening.rate ? String(d.opening.rate) : number(d.rate));

/** rated is a rate as typed: a number, a schedule, or nothing for the usual one. */
function rated(text) {
  const v = Number(text.replace("−", "-"));
  return text !== "" && Number.isFinite(v) && v > 0 ? { rate: v, schedule: "" } : { rate: 0, schedule: text };
}

/** scheduled are the schedules of a document with another one of a scalar; nothing stands for the usual one. */
function scheduled(d, scalar, text) {
  const courses = { ...d.opening.courses, [scalar]: text };
  if (text === "") delete courses[scalar];
  return courses;
}

/** rounded is a schedule with fewer digits, of which nobody typed any. */
const rounded = (text) => text.replace(/\d+\.\d{5,}/g, (v) => String(Number(Number(v).toPrecision(4))));

/** usualCourse is the schedule of a scalar of which nobody typed any; the steps that it takes are said beside it. */
const usualCourse = (c) => rounded(c.text.replace(/^within\(\d+,(.*)\)$/, "$1"));

/** name is what a scalar is called, without the scopes that it is in. */
function name(scalar) {
  return scalar.name.slice(scalar.name.lastIndexOf("/") + 1);
}
