
(function () {
  "use strict";
  var $ = function (id) { return document.getElementById(id); };
  var conv = $("conv"), rest = $("rest").content, main = conv.parentNode;
  var articles = {}, prev = {}, below = {}, order = [];

  // Which message follows which: the one before it in the file, unless it says another.
  function learn(all) {
    var last = null;
    for (var i = 0; i < all.length; i++) {
      var article = all[i], id = article.id, told = article.dataset.p;
      var up = told === undefined ? last : told || null;
      articles[id] = article;
      prev[id] = up;
      order.push(id);
      (below[up] = below[up] || []).push(id);
      last = id;
    }
  }
  learn(conv.children);
  learn(rest.children);
  order.sort();
  for (var up in below) below[up].sort();
  var siblings = function (id) { return prev[id] === null ? [id] : below[prev[id]]; };

  function path(id) {
    for (var found = []; id; id = prev[id]) found.push(id);
    return found.reverse();
  }
  // The newest message below each: ids grow along a conversation, so one pass from the newest tells.
  var newest = {};
  for (var n = order.length - 1; n >= 0; n--) {
    var leaf = newest[order[n]] || order[n], before = prev[order[n]];
    if (before && !(newest[before] >= leaf)) newest[before] = leaf;
  }

  // Times in the reader's own zone.
  var two = function (n) { return n < 10 ? "0" + n : n; };
  function prepare(article) {
    if (article.ready) return;
    article.ready = true;
    var time = article.querySelector("time"), link = document.createElement("a"), date = new Date(time.textContent.replace(" ", "T"));
    if (!isNaN(date)) {
      time.dateTime = time.textContent;
      time.textContent = date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate()) + " " + two(date.getHours()) + ":" + two(date.getMinutes());
    }
    link.href = "#" + article.id;
    link.title = "Link to this message";
    time.replaceWith(link);
    link.append(time);
    article.querySelectorAll("pre").forEach(function (pre) {
      if (pre.className) return;
      var block = document.createElement("div"), button = document.createElement("button");
      block.className = "block";
      button.textContent = "Copy";
      button.dataset.do = "copy";
      pre.replaceWith(block);
      block.append(pre, button);
    });
    var others = siblings(article.id);
    if (others.length < 2) return;
    var fork = document.createElement("span"), place = others.indexOf(article.id) + 1;
    fork.className = "fork";
    [["‹", "before", "Previous at this fork"], [place + "/" + others.length], ["›", "after", "Next at this fork"], ["Compare", "compare", "Compare with the next"]].forEach(function (it) {
      var part = document.createElement(it[1] ? "button" : "span");
      part.textContent = it[0];
      if (it[1]) { part.dataset.do = it[1]; part.title = it[2]; if (it[0] !== "Compare") part.setAttribute("aria-label", it[2]); }
      fork.append(part);
    });
    article.querySelector("p").append(fork);
  }

  // The first words of a message, without what it thought before.
  function body(article) { return article.querySelector(":scope > div, :scope > details"); }
  function words(article, most) {
    var walker = document.createTreeWalker(body(article), NodeFilter.SHOW_TEXT), text = "", node;
    while (text.length <= most && (node = walker.nextNode()))
      if (!node.parentNode.closest(".think, summary")) text += (text && !/^[\s,.:;]/.test(node.data) && node.parentNode.nodeName !== "CODE" ? " " : "") + node.data;
    var all = Array.from(text.replace(/\s+/g, " ").trim());
    return all.length > most ? all.slice(0, most).join("") + "…" : all.join("");
  }

  // The rows of the forest.
  var rows = {}, row = {};
  document.querySelectorAll(".tree").forEach(function (tree) {
    tree.querySelectorAll("li").forEach(function (li, i) {
      var id = li.firstChild.hash.slice(1);
      li.firstChild.append(words(articles[id], 60) || "(empty)");
      rows[id] = { li: li, tree: tree, x: 16 + 14 * (/p(\d+)/.exec(li.className) || [0, 0])[1], y: 30 * i + 15 };
    });
  });
  order.forEach(function rowOf(id) {
    for (var at = id, passed = []; at && !row[at] && !rows[at]; at = prev[at]) passed.push(at);
    var found = at && (rows[at] ? at : row[at]);
    passed.concat(id).forEach(function (each) { row[each] = found; });
  });

  var shown = path(conv.lastElementChild ? conv.lastElementChild.id : null), here = null;
  function draw() {
    document.querySelectorAll(".tree li.on").forEach(function (li) { li.classList.remove("on"); });
    document.querySelectorAll(".tree path.on").forEach(function (line) { line.setAttribute("d", ""); });
    var last = null, line = "", tree = null;
    shown.forEach(function (id) {
      var at = rows[id];
      if (!at) return;
      at.li.classList.add("on");
      tree = at.tree;
      if (last) line += "M" + last.x + " " + last.y + (last.x === at.x ? "V" + at.y : "V" + (at.y - 15) + "q0 15 " + (at.x - last.x) + " 15");
      last = at;
    });
    if (tree) tree.querySelector("path.on").setAttribute("d", line);
  }

  // Shows the conversation that ends at a message: what it shares with the one before stays where it is.
  function show(tip) {
    var next = path(tip), same = 0;
    while (same < shown.length && same < next.length && shown[same] === next[same]) same++;
    for (var i = shown.length - 1; i >= same; i--) rest.append(articles[shown[i]]);
    var added = document.createDocumentFragment();
    for (i = same; i < next.length; i++) { prepare(articles[next[i]]); added.append(articles[next[i]]); }
    conv.append(added);
    shown = next;
    draw();
    title();
  }
  function title() {
    var asked = shown.find(function (id) { var of = articles[id].classList; return of.contains("u") && !of.contains("h"); });
    if (asked) $("title").textContent = words(articles[asked], 90);
    $("about").textContent = $("about").textContent.replace(/^\S+ messages?/, shown.length.toLocaleString("en") + (shown.length === 1 ? " message" : " messages"));
  }

  // The message one is at.
  function mark(id, scroll) {
    if (here && articles[here]) articles[here].classList.remove("here");
    document.querySelectorAll(".tree a[aria-current]").forEach(function (a) { a.removeAttribute("aria-current"); });
    here = id;
    articles[id].classList.add("here");
    var at = rows[row[id]];
    if (at) {
      var link = at.li.firstChild;
      link.setAttribute("aria-current", "true");
      if (!link.matches(":hover")) link.scrollIntoView({ block: "nearest" });
    }
    if (scroll) articles[id].scrollIntoView({ block: "start" });
  }
  function go(id, quiet) {
    if (!articles[id]) {
      var inside = $(id) || rest.querySelector("[id='" + CSS.escape(id) + "']");
      var outer = inside && inside.closest("article");
      if (!outer) return;
      id = outer.id;
    }
    if (shown.indexOf(id) < 0) show(newest[id] || id);
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

  // Two texts beside each other: lines that are the same stand side by side, words that differ are marked.
  function lines(element) {
    var found = [];
    (function walk(node) {
      if (node.nodeName === "BUTTON" || node.className === "think") return;
      if (node.nodeName === "TR") {
        found.push(Array.from(node.children).map(function (cell) { return cell.textContent; }).join(" | "));
      } else if (/^(P|H[3-6]|PRE|FIGCAPTION|SUMMARY)$/.test(node.nodeName)) {
        node.textContent.replace(/\n$/, "").split("\n").forEach(function (line) { found.push(line); });
      } else if (node.nodeName === "LI" && !node.querySelector("p,pre,ul,ol")) {
        found.push("• " + node.textContent);
      } else {
        node.childNodes.forEach(function (child) {
          if (child.nodeType === 1) walk(child);
          else if (child.nodeType === 3 && child.data.trim()) found.push(child.data.trim());
        });
      }
    })(element);
    return found;
  }
  function diff(a, b) {
    var from = 0, ends = 0;
    while (from < a.length && from < b.length && a[from] === b[from]) from++;
    while (ends < a.length - from && ends < b.length - from && a[a.length - 1 - ends] === b[b.length - 1 - ends]) ends++;
    var x = a.slice(from, a.length - ends), y = b.slice(from, b.length - ends), ops = [], i, j;
    for (i = 0; i < from; i++) ops.push([a[i], a[i]]);
    if (x.length * y.length > 4e6) { // too long to compare exactly
      x.forEach(function (it) { ops.push([it, null]); });
      y.forEach(function (it) { ops.push([null, it]); });
    } else {
      var w = y.length + 1, most = new Uint32Array((x.length + 1) * w);
      for (i = x.length - 1; i >= 0; i--) for (j = y.length - 1; j >= 0; j--)
        most[i * w + j] = x[i] === y[j] ? most[(i + 1) * w + j + 1] + 1 : Math.max(most[(i + 1) * w + j], most[i * w + j + 1]);
      for (i = j = 0; i < x.length || j < y.length;) {
        if (i < x.length && j < y.length && x[i] === y[j]) ops.push([x[i++], y[j++]]);
        else if (j >= y.length || (i < x.length && most[(i + 1) * w + j] >= most[i * w + j + 1])) ops.push([x[i++], null]);
        else ops.push([null, y[j++]]);
      }
    }
    for (i = a.length - ends; i < a.length; i++) ops.push([a[i], a[i]]);
    return ops;
  }
  function compare(one, other) {
    var table = document.createElement("table"), gone = [], come = [];
    function cell(tr, text, kind) { var td = tr.insertCell(); if (kind) td.className = kind; td.append(text); return td; }
    function flush() {
      for (var i = 0; i < Math.max(gone.length, come.length); i++) {
        var tr = table.insertRow(), left = cell(tr, "", i < gone.length ? "gone" : ""), right = cell(tr, "", i < come.length ? "come" : "");
        if (i < gone.length && i < come.length) {
          var split = function (line) { return line.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) || []; };
          diff(split(gone[i]), split(come[i])).forEach(function (op) {
            if (op[0] === op[1]) { left.append(op[0]); right.append(op[1]); return; }
            var part = document.createElement(op[0] === null ? "ins" : "del");
            part.textContent = op[0] === null ? op[1] : op[0];
            (op[0] === null ? right : left).append(part);
          });
        } else { left.append(gone[i] || ""); right.append(come[i] || ""); }
      }
      gone = []; come = [];
    }
    var head = table.createTHead().insertRow();
    [one, other].forEach(function (id) {
      var th = document.createElement("th"), article = articles[id];
      prepare(article);
      th.textContent = article.querySelector("h2").textContent + " · " + article.querySelector("time").textContent;
      head.append(th);
    });
    table.createTBody();
    diff(lines(body(articles[one])), lines(body(articles[other]))).forEach(function (op) {
      if (op[0] === op[1]) { flush(); var tr = table.insertRow(); cell(tr, op[0]); cell(tr, op[1]); }
      else if (op[1] === null) gone.push(op[0]); else come.push(op[1]);
    });
    flush();
    $("sides").replaceChildren(table);
    $("compare").showModal();
  }
  function compareAt(id) {
    id = forkOf(id || here || shown[shown.length - 1]);
    if (!id) return;
    var all = siblings(id);
    compare.apply(null, [id, all[(all.indexOf(id) + 1) % all.length]].sort());
  }

  // Search as one types. The last syllable may be unfinished: 하 finds 한, ㅎ finds both.
  var texts = null, finals = 28, firsts = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";
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
    if (on) return;
    texts = texts || order.map(function (id) {
      var text = "";
      articles[id].querySelectorAll(":scope > div, :scope > details, .side > details").forEach(function (b) { text += lines(b).join("\n") + "\n"; });
      return text.normalize("NFC");
    });
    var wanted = pattern(query), count = 0, list = document.createDocumentFragment();
    for (var i = order.length - 1; i >= 0; i--) {
      wanted.lastIndex = 0;
      var hit = wanted.exec(texts[i]);
      if (!hit || ++count > 200) continue;
      var li = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small"), mark = document.createElement("mark");
      var from = Math.max(0, hit.index - 40), to = hit.index + hit[0].length;
      prepare(articles[order[i]]);
      a.href = "#" + order[i];
      small.textContent = articles[order[i]].querySelector("h2").textContent + " · " + articles[order[i]].querySelector("time").textContent;
      mark.textContent = hit[0];
      a.append(small, (from ? "…" : "") + texts[i].slice(from, hit.index), mark, texts[i].slice(to, to + 90));
      li.append(a);
      list.append(li);
    }
    hits.append(list);
    found.textContent = count === 0 ? "Nothing found" : count === 1 ? "1 message" : count + " messages" + (count > 200 ? ", the newest 200 shown" : "");
    light(wanted);
  }
  // Marks what was found in the conversation that is shown, without changing it.
  function light(wanted) {
    if (!window.CSS || !CSS.highlights || !window.Highlight) return;
    var ranges = [], walker = document.createTreeWalker(conv, NodeFilter.SHOW_TEXT), node, hit;
    while (ranges.length < 2000 && (node = walker.nextNode())) {
      wanted.lastIndex = 0;
      while ((hit = wanted.exec(node.data)) && hit[0]) {
        var range = new Range();
        range.setStart(node, hit.index);
        range.setEnd(node, hit.index + hit[0].length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("hit", new Highlight(...ranges));
  }

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
      if (a.closest("#hits")) light(pattern($("q").value.normalize("NFC").trim()));
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
        var all = here ? articles[here].querySelectorAll("details") : [], open = Array.from(all).some(function (it) { return !it.open; });
        all.forEach(function (it) { it.open = open; });
      },
      "/": function () { if (matchMedia("(max-width: 52rem)").matches && !document.body.classList.contains("open")) menu(); $("q").focus(); $("q").select(); },
      "?": function () { $("help").showModal(); }
    };
    if (Object.hasOwn(keys, event.key)) { event.preventDefault(); keys[event.key](); }
  });
  $("q").addEventListener("input", search);
  addEventListener("hashchange", function () { go(decodeURIComponent(location.hash.slice(1)), true); });
  addEventListener("beforeprint", function () { shown.forEach(function (id) { prepare(articles[id]); }); });

  // What is in sight first; the rest when the browser has nothing else to do.
  var early = shown.slice(0, 40), late = shown.slice(40);
  early.forEach(function (id) { prepare(articles[id]); });
  (function more() {
    late.splice(0, 200).forEach(function (id) { prepare(articles[id]); });
    if (late.length) setTimeout(more, 16);
  })();
  draw();
  if (location.hash.length > 1) go(decodeURIComponent(location.hash.slice(1)), true);
  else if (rows[row[shown[0]]]) rows[row[shown[0]]].li.scrollIntoView({ block: "nearest" });
})();
