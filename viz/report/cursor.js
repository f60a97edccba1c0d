
// Cursors: a slider moves a point on each curve of its quantity, and the centres in the plots.
(function () {
  "use strict";
  const svgNamespace = "http://www.w3.org/2000/svg";
  const cursors = JSON.parse(document.getElementById("cursors").textContent);
  const points = JSON.parse(document.getElementById("data").textContent).Plane.Points;

  // format writes a number as the charts do.
  function format(v) {
    if (v === null) { return "–"; }
    const a = Math.abs(v);
    const trim = (s) => s.includes(".") ? s.replace(/\.?0+$/, "") : s;
    const group = (s) => s.replace(/^-?/, "").length > 4 ? s.replace(/\B(?=(\d{3})+$)/g, "\u202f") : s;
    let s = "0";
    if (v === 0) { return s; }
    if (a >= 1e9 || a < 1e-3) {
      const parts = v.toExponential(3).split("e");
      s = trim(parts[0]) + "e" + Number(parts[1]);
    } else if (a >= 1000 || v === Math.trunc(v)) {
      s = group(v.toFixed(0));
    } else {
      s = trim(v.toFixed(3 - Math.floor(Math.log10(a))));
    }
    return s.replace(/-/g, "−");
  }

  function place(scale, v) {
    const signed = (x) => (Math.abs(x) <= scale.Linear ? x / scale.Linear : Math.sign(x) * (1 + Math.log10(Math.abs(x) / scale.Linear)));
    const f = scale.Log ? Math.log10 : scale.Linear ? signed : (x) => x;
    if (v === null || scale.Log && !(v > 0)) { return NaN; }
    return scale.From + (f(v) - f(scale.Lo)) / (f(scale.Hi) - f(scale.Lo)) * (scale.To - scale.From);
  }

  function element(name, attributes) {
    const e = document.createElementNS(svgNamespace, name);
    Object.entries(attributes).forEach(([k, v]) => e.setAttribute(k, v));
    return e;
  }

  // follow prepares a chart, and returns what shows a stop in it.
  function follow(cursor, chart) {
    const svg = document.getElementById(chart.ID + "-title").closest("svg");
    const said = document.createElement("p");
    said.className = "readout";
    svg.after(said);
    const show = chart.Marks ? marks(cursor, chart, svg) : dots(cursor, chart, svg);
    return function (i) {
      said.textContent = cursor.Name + " " + format(cursor.Stops[i]) + ": " + chart.Lines.map((line) => {
        let text = line.Name + " " + format(line.Y[i]);
        if (line.Lo && line.Lo[i] !== null && line.Lo[i] !== line.Hi[i]) { text += " (" + line.Range + " " + format(line.Lo[i]) + " … " + format(line.Hi[i]) + ")"; }
        if (line.At && line.At[i] !== cursor.Stops[i]) { text += " at " + cursor.Name + " " + format(line.At[i]); }
        return text;
      }).join("; ") + (chart.Nearest ? ". Thin lines lead to the nearest centre." : "");
      show(i);
    };
  }

  // dots moves a rule along the chart, with a dot on each curve.
  function dots(cursor, chart, svg) {
    const g = svg.appendChild(element("g", { "class": "track" }));
    const top = Math.min(chart.Y.From, chart.Y.To), bottom = Math.max(chart.Y.From, chart.Y.To);
    const rule = g.appendChild(element("path", {}));
    const each = chart.Lines.map(() => g.appendChild(element("circle", { r: 4 })));
    return function (i) {
      const x = place(chart.X, cursor.Stops[i]);
      const inside = x >= Math.min(chart.X.From, chart.X.To) - 1 && x <= Math.max(chart.X.From, chart.X.To) + 1;
      g.style.display = i === cursor.Start || !inside ? "none" : "";
      rule.setAttribute("d", "M" + x + " " + top + "V" + bottom);
      each.forEach((dot, k) => {
        const line = chart.Lines[k];
        const cx = place(chart.X, line.At ? line.At[i] : cursor.Stops[i]), cy = place(chart.Y, line.Y[i]);
        const seen = Number.isFinite(cx) && cy >= top - 1 && cy <= bottom + 1;
        dot.style.display = seen ? "" : "none";
        if (seen) { dot.setAttribute("cx", cx); dot.setAttribute("cy", cy); }
      });
    };
  }

  // marks moves the marks at the ends of the ways of a plot, and joins each point to its nearest.
  function marks(cursor, chart, svg) {
    const all = Array.from(svg.children), n = chart.Marks.length;
    const moving = all.slice(-n), bare = chart.Bare ? all.slice(-3 * n, -n) : [];
    const at = (k, i) => [place(chart.X, chart.Marks[k][i][0]), place(chart.Y, chart.Marks[k][i][1])];
    const nearest = [];
    (chart.Nearest || []).forEach((change, i) => {
      if (i === 0) { nearest.push(change); return; }
      const now = nearest[i - 1].slice();
      for (let k = 0; k < change.length; k += 2) { now[change[k]] = change[k + 1]; }
      nearest.push(now);
    });
    const spokes = element("path", { "class": "spokes" });
    if (nearest.length > 0) { all.slice(-3 * n)[0].before(spokes); }
    return function (i) {
      moving.forEach((mark, k) => {
        if (!chart.Marks[k]) { return; }
        const from = at(k, cursor.Start), to = at(k, i), known = Number.isFinite(to[0] - from[0] + to[1] - from[1]);
        mark.style.visibility = known || i === cursor.Start ? "" : "hidden";
        mark.style.transform = i === cursor.Start || !known ? "" : "translate(" + (to[0] - from[0]) + "px," + (to[1] - from[1]) + "px)";
      });
      bare.forEach((e) => { e.style.visibility = i === cursor.Start ? "" : "hidden"; });
      if (nearest.length > 0) {
        spokes.setAttribute("d", nearest[i].map((k, p) => {
          const to = at(k, i);
          if (!Number.isFinite(to[0] + to[1])) { return ""; }
          return "M" + place(chart.X, points[p][0]).toFixed(1) + " " + place(chart.Y, points[p][1]).toFixed(1) + "L" + to[0].toFixed(1) + " " + to[1].toFixed(1);
        }).join(""));
      }
    };
  }

  cursors.forEach((cursor, index) => {
    if (!cursor) { return; }
    const input = document.getElementById("cursor-" + (index + 1));
    const control = input.parentElement, output = control.querySelector("output");
    const shows = cursor.Charts.map((chart) => follow(cursor, chart));
    function set(i) {
      input.value = i;
      let text = format(cursor.Stops[i]);
      if (cursor.Notes) { text += ", " + cursor.Notes[i]; }
      output.textContent = text;
      input.setAttribute("aria-valuetext", cursor.Name + " " + text);
      shows.forEach((show) => show(i));
    }
    input.addEventListener("input", () => set(Number(input.value)));
    // The pointer over a curve moves all of them to the stop that it is nearest to.
    cursor.Charts.filter((chart) => !chart.Marks).forEach((chart) => {
      const svg = document.getElementById(chart.ID + "-title").closest("svg");
      const places = cursor.Stops.map((stop) => place(chart.X, stop));
      svg.addEventListener("pointermove", (event) => {
        const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
        if (x < Math.min(chart.X.From, chart.X.To) - 8 || x > Math.max(chart.X.From, chart.X.To) + 8) { return; }
        let best = 0;
        places.forEach((p, i) => { if (Math.abs(p - x) < Math.abs(places[best] - x)) { best = i; } });
        if (best !== Number(input.value)) { set(best); }
      });
    });
    control.hidden = false;
    set(cursor.Start);
  });
})();
