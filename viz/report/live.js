
// The page inside, a text until a button asks for it: then a frame that is made of it.
(function () {
  "use strict";
  var page = document.getElementById("live-page");
  if (!page) { return; }
  var button = document.getElementById("live-open");
  button.hidden = false;
  button.addEventListener("click", function () {
    var frame = document.createElement("iframe");
    frame.className = "live";
    frame.title = "The models, to be changed and trained";
    frame.allow = "fullscreen";
    frame.src = URL.createObjectURL(new Blob([JSON.parse(page.textContent)], { type: "text/html" })) + "#" + button.dataset.address;
    var whole = document.createElement("button");
    whole.type = "button";
    whole.textContent = "Whole screen";
    whole.hidden = !document.fullscreenEnabled;
    whole.addEventListener("click", function () { frame.requestFullscreen(); });
    button.parentNode.append(whole);
    button.replaceWith(frame);
    frame.focus();
  });
})();
