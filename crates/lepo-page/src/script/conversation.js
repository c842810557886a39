// The conversation that is shown: its ids, and how many of them are in the document. The others follow when the
// browser has nothing else to do, in parts of so many messages as the file has.
var PART = 50, shown = path(tail), filled = 0, here = null;
// A busy browser is waited for no longer than a tenth of a second.
function idle(then) {
  if (window.requestIdleCallback) requestIdleCallback(then, { timeout: 100 });
  else setTimeout(then, 16);
}
conv.querySelectorAll("noscript").forEach(function (part) { part.remove(); });
filled = conv.querySelectorAll(":scope > div > article").length;

function fill(to) {
  for (to = Math.min(to, shown.length); filled < to;) {
    var part = conv.lastElementChild;
    if (filled % PART === 0) { part = document.createElement("div"); part.className = "part"; }
    var upto = Math.min(filled - filled % PART + PART, to);
    part.append.apply(part, make(shown.slice(filled, upto)));
    if (!part.parentNode) conv.append(part);
    filled = upto;
  }
}
function fillRest() {
  var unlabelled = items.findIndex(Boolean);
  if (filled < shown.length) fill(filled + 2 * PART);
  else if (unlabelled >= 0) label(unlabelled, unlabelled + 200);
  else return;
  if (filled === shown.length && $("q").value) light();
  idle(fillRest);
}

// Shows the conversation that ends at a message: what it shares with the one before stays where it is.
function show(tip) {
  var next = path(tip), same = 0, done = filled === shown.length;
  while (same < filled && same < next.length && shown[same] === next[same]) same++;
  for (; filled > same; filled--) elements[shown[filled - 1]].remove();
  while (conv.lastElementChild && !conv.lastElementChild.firstElementChild) conv.lastElementChild.remove();
  shown = next;
  fill(same + PART);
  if (done) idle(fillRest);
  draw();
  title();
}
function title() {
  var asked = shown.find(function (id) { return /^<article[^>]* class="?u(?! h)/.test(html[id]); });
  if (asked) $("title").textContent = words(asked, 90);
  $("about").textContent = $("about").textContent.replace(/^\S+ messages?/, shown.length.toLocaleString("en") + (shown.length === 1 ? " message" : " messages"));
}

// The message one is at.
function mark(id, scroll) {
  if (here) elements[here].classList.remove("here");
  document.querySelectorAll(".tree a[aria-current]").forEach(function (a) { a.removeAttribute("aria-current"); });
  here = id;
  element(id).classList.add("here");
  var at = rows[row[id]];
  if (at) {
    var link = at.li.firstChild;
    link.setAttribute("aria-current", "true");
    if (!link.matches(":hover")) link.scrollIntoView({ block: "nearest" });
  }
  if (scroll) elements[id].scrollIntoView({ block: "start" });
}
function go(id, quiet) {
  if (!html[id]) {
    var inside = /^\w+$/.test(id) && order.find(function (it) { return RegExp(" id=\"?" + id + "\\b").test(html[it]); });
    var outer = inside || ($(id) && $(id).closest("article") || {}).id;
    if (!outer) return;
    id = outer;
  }
  if (shown.indexOf(id) < 0) show(newest[id] || id);
  fill(shown.indexOf(id) + PART / 2);
  mark(id, true);
  if (!quiet) { try { history.replaceState(null, "", "#" + id); } catch (e) {} }
  document.body.classList.remove("open");
  $("menu").setAttribute("aria-expanded", "false");
}
function step(by) {
  var i = here ? shown.indexOf(here) : by > 0 ? -1 : shown.length;
  var id = shown[Math.max(0, Math.min(shown.length - 1, i + by))];
  if (id) go(id);
}
// At a fork: another of them, from the message one is at, or the nearest fork before it.
function forkOf(id) {
  for (; id; id = prev[id]) if (siblings(id).length > 1) return id;
  return null;
}
function turn(id, by) {
  id = forkOf(id || here || shown[shown.length - 1]);
  if (!id) return;
  var all = siblings(id);
  go(all[(all.indexOf(id) + by + all.length) % all.length]);
}
