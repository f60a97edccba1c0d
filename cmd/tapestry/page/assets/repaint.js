// The sheets that are drawn. What stays of one at another step is not sent again.
import * as api from "./api.js";

/**
 * sheetsOf asks for the sheets that the workspace is to show: of each document or, with another
 * one against the first, of both on one. Before are the sheets in their places.
 */
export async function sheetsOf(workspace, ids, against, before, signal) {
  const { firing } = workspace.view;
  if (firing !== null) return [await api.firingSheet(ids[0], firing, signal)];
  if (against) return [await repainted(before[0], (kept) => api.compare({ a: ids[0], b: against, ...workspace.sheetParameters(), kept }, signal))];
  return Promise.all(ids.map((id, i) => repainted(before[i], (kept) => api.sheet(id, { ...workspace.sheetParameters(id), kept }, signal))));
}

/**
 * repainted gives the sheet that ask(kept) gives, where kept names what there is of the sheet
 * before: of that one the answer may have only its nodes, as they look now. What looks as before is
 * the same object.
 */
async function repainted(before, ask) {
  const answer = await ask(before?.kept);
  if (!answer.nodes) return answer;
  const looks = answer.nodes.values();
  const items = before.items.map((it) => {
    if (it.kind !== "node") return it;
    const { svg, box } = looks.next().value;
    return svg === it.svg && ["x", "y", "w", "h"].every((part) => box[part] === it.box[part]) ? it : { ...it, svg, box };
  });
  return { ...before, items, legend: answer.legend, scale: answer.scale, step: answer.step };
}
