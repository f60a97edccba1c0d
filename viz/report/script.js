// Formulas that are wider than the window scroll, and then the keyboard reaches them.
(function () {
  "use strict";
  function reach() {
    document.querySelectorAll(".formula").forEach(function (formula) {
      if (formula.scrollWidth > formula.clientWidth) { formula.tabIndex = 0; } else { formula.removeAttribute("tabindex"); }
    });
  }
  window.addEventListener("resize", reach);
  window.addEventListener("load", reach);
})();

// In a frame that has the page as a text, the address of a link within the page is one of the page
// around it.
(function () {
  "use strict";
  if (location.protocol !== "about:") { return; }
  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[href^='#']");
    var to = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!to) { return; }
    event.preventDefault();
    to.tabIndex = -1;
    to.focus({ preventScroll: true });
    to.scrollIntoView();
  });
})();

// Zoom and pan for the drawing of the graphs, which scrolls without it.
(function () {
  "use strict";
  document.querySelectorAll(".drawing").forEach(function (figure) {
    var view = figure.querySelector(".view");
    var svg = view.querySelector("svg");
    var shown = figure.querySelector("output");
    var natural = svg.viewBox.baseVal && svg.viewBox.baseVal.width || svg.getBoundingClientRect().width;
    var least = 0.1, most = 4, scale = 1;

    function fit() { return Math.min(1, (view.clientWidth - 2) / natural); }

    // zoom keeps the point of the drawing at (x, y) of the view where it is.
    function zoom(to, x, y) {
      var left = view.scrollLeft + x, top = view.scrollTop + y;
      to = Math.max(least, Math.min(most, to));
      svg.style.width = natural * to + "px";
      svg.style.height = "auto";
      view.scrollLeft = left * to / scale - x;
      view.scrollTop = top * to / scale - y;
      scale = to;
      shown.textContent = Math.round(100 * scale) + "\u00a0%";
    }
    function zoomMiddle(to) { zoom(to, view.clientWidth / 2, view.clientHeight / 2); }

    var moves = {
      "in": function () { zoomMiddle(scale * 1.25); },
      "out": function () { zoomMiddle(scale / 1.25); },
      "fit": function () { zoom(fit(), 0, 0); },
      "full": function () { zoomMiddle(1); }
    };
    var keys = { "+": "in", "=": "in", "-": "out", "0": "fit" };

    figure.querySelectorAll("button").forEach(function (button) {
      button.addEventListener("click", moves[button.dataset.zoom]);
    });
    view.addEventListener("keydown", function (event) {
      var move = keys[event.key];
      if (!move || event.ctrlKey || event.metaKey || event.altKey) { return; }
      event.preventDefault();
      moves[move]();
    });
    view.addEventListener("wheel", function (event) {
      if (!event.ctrlKey) { return; }
      event.preventDefault();
      var box = view.getBoundingClientRect();
      zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });

    // Fingers scroll by themselves; a mouse drags.
    var from = null;
    view.addEventListener("pointerdown", function (event) {
      if (event.pointerType !== "mouse" || event.button !== 0) { return; }
      from = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
      view.setPointerCapture(event.pointerId);
      view.classList.add("dragging");
    });
    view.addEventListener("pointermove", function (event) {
      if (!from) { return; }
      view.scrollLeft = from.x - event.clientX;
      view.scrollTop = from.y - event.clientY;
    });
    ["pointerup", "pointercancel", "lostpointercapture"].forEach(function (name) {
      view.addEventListener(name, function () { from = null; view.classList.remove("dragging"); });
    });

    view.classList.add("drags");
    figure.querySelectorAll("[hidden]").forEach(function (part) { part.hidden = false; });
    // The whole drawing at first, unless its text would be too small to read.
    zoom(Math.max(fit(), 0.5), 0, 0);
  });
})();
