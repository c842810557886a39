// The messages of the file. An element is made when it is needed: until then a message is its HTML, which
// a browser reads as plain text because it stands in <noscript>.
var $ = function (id) { return document.getElementById(id); };
// Tables that are asked for what a link says have no names of their own, such as "constructor".
var table = function () { return Object.create(null); };
var conv = $("conv"), html = table(), elements = table(), prev = table(), below = table(), order = [];

// Which message follows which: the one before it in the file, unless it says another. "<" is always escaped
// in what was said, so that each "<article" begins a message.
function learn(text) {
  for (var at = text.indexOf("<article "), last = null; at >= 0;) {
    var next = text.indexOf("<article ", at + 9), whole = text.slice(at, next < 0 ? text.length : next);
    var tag = whole.slice(0, whole.indexOf(">")), id = /id="?(\w+)/.exec(tag)[1], told = /data-p="(\w*)"/.exec(tag);
    var up = told ? told[1] || null : last;
    html[id] = whole.slice(0, whole.lastIndexOf("</article>"));
    prev[id] = up;
    order.push(id);
    (below[up] = below[up] || []).push(id);
    last = id;
    at = next;
  }
  return last;
}
var tail = learn(Array.from(conv.children, function (part) {
  if (part.nodeName === "NOSCRIPT") return part.textContent;
  Array.from(part.children).forEach(function (article) { elements[article.id] = article; });
  return part.innerHTML;
}).join(""));
learn($("rest").content.textContent);
order.sort();
for (var up in below) below[up].sort();
var siblings = function (id) { return prev[id] === null ? [id] : below[prev[id]]; };

function path(id) {
  for (var found = []; id; id = prev[id]) found.push(id);
  return found.reverse();
}
// The newest message below each: ids grow along a conversation, so one pass from the newest tells.
var newest = table();
for (var n = order.length - 1; n >= 0; n--) {
  var leaf = newest[order[n]] || order[n], before = prev[order[n]];
  if (before && !(newest[before] >= leaf)) newest[before] = leaf;
}

// The elements of some messages, made at once where they are not there yet.
function make(ids) {
  var missing = ids.filter(function (id) { return !elements[id]; }), holder = document.createElement("template");
  holder.innerHTML = missing.map(function (id) { return html[id] + "</article>"; }).join("");
  Array.from(holder.content.children).forEach(function (article) { elements[article.id] = article; });
  return ids.map(function (id) { return prepare(elements[id]); });
}
function element(id) { return make([id])[0]; }

// Adds to a message what only works with the script: times in the reader's own zone, copy buttons, forks.
var two = function (n) { return n < 10 ? "0" + n : n; };
function prepare(article) {
  if (article.ready) return article;
  article.ready = true;
  var time = article.querySelector("time"), date = new Date(time.textContent.replace(" ", "T"));
  if (!isNaN(date)) {
    time.dateTime = time.textContent;
    time.textContent = date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate()) + " " + two(date.getHours()) + ":" + two(date.getMinutes());
  }
  time.parentNode.title = "Link to this message";
  article.querySelectorAll("pre:not([class])").forEach(function (pre) {
    var block = document.createElement("div"), button = document.createElement("button");
    block.className = "block";
    button.textContent = "Copy";
    button.dataset.do = "copy";
    pre.replaceWith(block);
    block.append(pre, button);
  });
  var others = siblings(article.id);
  if (others.length < 2) return article;
  var fork = document.createElement("span"), place = others.indexOf(article.id) + 1;
  fork.className = "fork";
  [["‹", "before", "Previous at this fork"], [place + "/" + others.length], ["›", "after", "Next at this fork"], ["Compare", "compare", "Compare with the next"]].forEach(function (it) {
    var part = document.createElement(it[1] ? "button" : "span");
    part.textContent = it[0];
    if (it[1]) { part.dataset.do = it[1]; part.title = it[2]; if (it[0] !== "Compare") part.setAttribute("aria-label", it[2]); }
    fork.append(part);
  });
  article.querySelector("p").append(fork);
  return article;
}

// The text of a message without the elements: what it thought before and the first words of folded parts are
// left out. With `most`, as much as so many characters need.
var ENTITIES = { amp: "&", lt: "<", gt: ">", quot: "\"" };
function text(id, most) {
  var whole = html[id], folded = whole.indexOf("<details"), from = whole.indexOf("<div>");
  if (from < 0 || (folded >= 0 && folded < from)) from = folded;
  if (most && whole.startsWith("<div><details class=think>", from)) from = whole.indexOf("</details>", from) + 10;
  var part = most ? whole.slice(from, from + 20 * most).replace(/<section [^]*|<[^>]*$/, "") : whole.slice(from);
  part = part.replace(/<details class="?think[^]*?<\/details>|<summary>[^]*?(<\/summary>|$)/g, "\n");
  part = part.replace(/<\/?(\w+)(?:[^>"]|"[^"]*")*>/g, function (_, name) {
    return /^(?:a|b|code|del|em|i|span|strong|sub|sup)$/.test(name) ? "" : "\n";
  });
  return part.replace(/&(amp|lt|gt|quot);/g, function (_, name) { return ENTITIES[name]; });
}
function words(id, most) {
  var short = text(id, most).replace(/\s+/g, " ").trim();
  if (short.length <= most) short = text(id, html[id].length).replace(/\s+/g, " ").trim();
  var all = Array.from(short.slice(0, 2 * most + 2));
  return all.length > most ? all.slice(0, most).join("") + "…" : all.join("");
}
// The part of a message that was said.
function body(article) { return article.querySelector(":scope > div, :scope > details"); }
