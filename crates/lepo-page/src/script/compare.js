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
    var th = document.createElement("th"), article = element(id);
    th.textContent = article.querySelector("h2").textContent + " · " + article.querySelector("time").textContent;
    head.append(th);
  });
  table.createTBody();
  diff(lines(body(element(one))), lines(body(element(other)))).forEach(function (op) {
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
