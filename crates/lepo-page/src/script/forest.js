// The rows of the forest, and the line of the conversation that is shown. The words of a row are written when
// it comes into sight, or when the browser has nothing else to do.
var rows = table(), row = table(), items = [];
document.querySelectorAll(".tree").forEach(function (tree) {
  tree.querySelectorAll("li").forEach(function (li, i) {
    var id = li.firstChild.getAttribute("href").slice(1);
    rows[id] = { li: li, tree: tree, x: 16 + 14 * (li.className.charAt(0) === "p" ? +li.className.slice(1) : 0), y: 30 * i + 15 };
    items.push(id);
  });
});
order.forEach(function rowOf(id) {
  for (var at = id, passed = []; at && !row[at] && !rows[at]; at = prev[at]) passed.push(at);
  var found = at && (rows[at] ? at : row[at]);
  passed.concat(id).forEach(function (each) { row[each] = found; });
});
// The day of a message, in the reader's own zone and words: the first ten signs of an id are its time.
var year = new Date().getFullYear();
function day(id) {
  for (var i = 0, ms = 0; i < 10; i++) ms = ms * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(id.charAt(i));
  var date = new Date(ms), of = date.getFullYear() === year ? { day: "numeric", month: "short" } : { month: "short", year: "numeric" };
  return isNaN(date) ? "" : date.toLocaleDateString("en-GB", of);
}
function label(from, to) {
  for (var i = Math.max(0, from); i < Math.min(to, items.length); i++) {
    if (!items[i]) continue;
    var link = rows[items[i]].li.firstChild;
    if (rows[items[i]].li.className.charAt(0) === "r") {
      var time = document.createElement("time");
      time.textContent = day(items[i]);
      link.prepend(time);
    }
    link.append(words(items[i], 90) || "(empty)");
    items[i] = null;
  }
}
function labelSeen() {
  var high = items.length && document.querySelector(".tree li").getBoundingClientRect().height || 30;
  var first = Math.floor($("forest").scrollTop / high);
  label(first - 20, first + Math.ceil(innerHeight / 30) + 20);
}
$("forest").addEventListener("scroll", labelSeen, { passive: true });

var marked = [], drawn = null;
function draw() {
  marked.forEach(function (li) { li.classList.remove("on"); });
  marked = [];
  if (drawn) drawn.setAttribute("d", "");
  var last = null, line = "", tree = null;
  shown.forEach(function (id) {
    var at = rows[id];
    if (!at) return;
    at.li.classList.add("on");
    marked.push(at.li);
    tree = at.tree;
    if (last) line += "M" + last.x + " " + last.y + (last.x === at.x ? "V" + at.y : "V" + (at.y - 15) + "q0 15 " + (at.x - last.x) + " 15");
    last = at;
  });
  drawn = tree && tree.querySelector("path.on");
  if (drawn) drawn.setAttribute("d", line);
}
