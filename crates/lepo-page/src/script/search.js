// Search as one types. The last syllable may be unfinished: 하 finds 한, ㅎ finds both.
var texts = null, finals = 28, firsts = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", wanted = null, matching = [];
function pattern(query) {
  var last = query.charAt(query.length - 1), code = last.charCodeAt(0) - 0xac00, first = firsts.indexOf(last), end = "";
  var quote = function (text) { return text.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&").replace(/\s+/g, "\\s+"); };
  if (code >= 0 && code < 11172 && code % finals === 0) end = "[" + last + "-" + String.fromCharCode(0xac00 + code + finals - 1) + "]";
  else if (first >= 0) end = "[" + last + String.fromCharCode(0xac00 + first * 588) + "-" + String.fromCharCode(0xac00 + first * 588 + 587) + "]";
  return new RegExp(end ? quote(query.slice(0, -1)) + end : quote(query), "giu");
}
function search() {
  var query = $("q").value.normalize("NFC").trim(), hits = $("hits"), found = $("found"), on = !query;
  $("trees").hidden = !on; hits.hidden = found.hidden = on;
  if (window.CSS && CSS.highlights) CSS.highlights.delete("hit");
  hits.replaceChildren();
  matching = [];
  if (on) return;
  texts = texts || order.map(function (id) { return text(id).normalize("NFC").replace(/\n\s*\n/g, "\n"); });
  wanted = pattern(query);
  var list = document.createDocumentFragment();
  for (var i = order.length - 1; i >= 0; i--) {
    wanted.lastIndex = 0;
    var hit = wanted.exec(texts[i]);
    if (!hit || matching.push(order[i]) > 200) continue;
    var li = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small"), mark = document.createElement("mark");
    var from = Math.max(0, hit.index - 40), to = hit.index + hit[0].length, article = element(order[i]);
    a.href = "#" + order[i];
    small.textContent = article.querySelector("h2").textContent + " · " + article.querySelector("time").textContent;
    mark.textContent = hit[0];
    a.append(small, (from ? "…" : "") + texts[i].slice(from, hit.index), mark, texts[i].slice(to, to + 90));
    li.append(a);
    list.append(li);
  }
  hits.append(list);
  var count = matching.length;
  found.textContent = count === 0 ? "Nothing found" : count === 1 ? "1 message" : count + " messages" + (count > 200 ? ", the newest 200 shown" : "");
  light();
}
// Marks what was found in the conversation that is shown, without changing it.
function light() {
  if (!window.CSS || !CSS.highlights || !window.Highlight) return;
  var ranges = [];
  matching.forEach(function (id) {
    if (!elements[id] || !elements[id].isConnected || ranges.length > 2000) return;
    var walker = document.createTreeWalker(body(elements[id]), NodeFilter.SHOW_TEXT), node, hit;
    while ((node = walker.nextNode())) {
      wanted.lastIndex = 0;
      while ((hit = wanted.exec(node.data)) && hit[0]) {
        var range = new Range();
        range.setStart(node, hit.index);
        range.setEnd(node, hit.index + hit[0].length);
        ranges.push(range);
      }
    }
  });
  CSS.highlights.set("hit", new Highlight(...ranges));
}
