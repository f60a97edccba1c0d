// Sets the theme before the first paint: the reader's choice if there is one,
// else what the system prefers. A classic script, because modules run too late.
(function () {
  "use strict";
  var root = document.documentElement;
  var dark = matchMedia("(prefers-color-scheme: dark)");
  function chosen() {
    try {
      return localStorage.getItem("tapestry-theme");
    } catch {
      return null; // storage may be forbidden
    }
  }
  function set(theme) {
    root.dataset.theme = theme;
    root.classList.toggle("tapestry-dark", theme === "dark"); // what drawings look at
    dispatchEvent(new Event("themechange"));
  }
  function apply() {
    set(chosen() || (dark.matches ? "dark" : "light"));
  }
  dark.addEventListener("change", apply);
  addEventListener("settheme", function (e) {
    try {
      localStorage.setItem("tapestry-theme", e.detail);
    } catch {
      // the choice then lasts until the page is left
    }
    set(e.detail);
  });
  apply();
})();
