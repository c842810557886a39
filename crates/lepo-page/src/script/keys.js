function copy(text, button) {
  var done = function () { button.textContent = "Copied"; setTimeout(function () { button.textContent = "Copy"; }, 1500); };
  var by_hand = function () {
    var area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    if (document.execCommand("copy")) done();
    area.remove();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, by_hand); else by_hand();
}
function theme() {
  var root = document.documentElement;
  var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("lepo-theme", root.dataset.theme); } catch (e) {}
}
function menu() {
  var open = document.body.classList.toggle("open");
  $("menu").setAttribute("aria-expanded", open);
  if (open) $("q").focus();
}

document.addEventListener("click", function (event) {
  var a = event.target.closest("a"), button = event.target.closest("button");
  if (a && a.hash && a.getAttribute("href").charAt(0) === "#" && a.className !== "skip") {
    event.preventDefault();
    go(a.hash.slice(1));
    if (a.closest("#hits")) light();
  } else if (button) {
    var article = button.closest("article"), id = article && article.id;
    if (button.dataset.do === "copy") copy(button.previousSibling.textContent, button);
    else if (button.dataset.do === "before") turn(id, -1);
    else if (button.dataset.do === "after") turn(id, 1);
    else if (button.dataset.do === "compare") compareAt(id);
    else if (button.id === "theme") theme();
    else if (button.id === "keys") $("help").showModal();
    else if (button.id === "menu") menu();
    else if (button.closest("dialog")) button.closest("dialog").close();
  } else if (document.body.classList.contains("open") && !event.target.closest("nav")) menu();
  else if (event.target.nodeName === "DIALOG") event.target.close();
});
document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  var typing = event.target.nodeName === "INPUT";
  if (event.key === "Escape") {
    if (typing || $("q").value) { $("q").value = ""; search(); $("q").blur(); }
    else if (document.body.classList.contains("open")) menu();
    return;
  }
  if (typing) {
    var first = $("hits").querySelector("a");
    if (event.key === "Enter" && first) { first.click(); $("q").blur(); }
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  var keys = {
    j: function () { step(1); }, k: function () { step(-1); },
    h: function () { turn(null, -1); }, l: function () { turn(null, 1); },
    d: function () { compareAt(null); },
    o: function () {
      var all = here ? elements[here].querySelectorAll("details") : [], open = Array.from(all).some(function (it) { return !it.open; });
      all.forEach(function (it) { it.open = open; });
    },
    "/": function () { if (matchMedia("(max-width: 52rem)").matches && !document.body.classList.contains("open")) menu(); $("q").focus(); $("q").select(); },
    "?": function () { $("help").showModal(); }
  };
  if (Object.hasOwn(keys, event.key)) { event.preventDefault(); keys[event.key](); }
});
$("q").addEventListener("input", search);
// The end of the address is anybody's text: one that is no encoded text names no message.
function goToHash() {
  var id = "";
  try { id = decodeURIComponent(location.hash.slice(1)); } catch (e) {}
  if (id) go(id, true);
  return !!here;
}
addEventListener("hashchange", goToHash);
addEventListener("beforeprint", function () { fill(shown.length); });

make(shown.slice(0, filled));
labelSeen();
draw();
if (!goToHash() && rows[row[shown[0]]]) rows[row[shown[0]]].li.scrollIntoView({ block: "nearest" });
labelSeen();
idle(fillRest);
