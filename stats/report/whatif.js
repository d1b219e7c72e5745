// What if: the turns of every cell of the grid are tried against a table that the reader moves. Counts of turns are
// exact, because all bounds lie on the grid; what is kept is what the draw is expected to keep.
(function () {
"use strict";
var data = JSON.parse(document.getElementById("data").textContent);
var app = document.getElementById("what-if-app");
var order = ["retrieval", "expansion", "action", "other", "transform", "boilerplate", "echo"];

// el makes an element. Texts of the content are never markup.
function el(name, attributes, children) {
  var e = document.createElement(name);
  Object.keys(attributes || {}).forEach(function (k) {
    if (k.slice(0, 2) === "on") e.addEventListener(k.slice(2), attributes[k]);
    else e.setAttribute(k, attributes[k]);
  });
  (children || []).forEach(function (c) { e.append(c); });
  return e;
}
function thousands(n) { return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ","); }
function percent(x) {
  if (!isFinite(x)) return "-";
  var p = 100 * x;
  return (p === 0 ? "0" : Math.abs(p) < 1 ? p.toFixed(2) : p.toFixed(1)) + "%";
}

// Places of a cell, as figures.Joint numbers them.
var radix = [data.novelty.length + 1, 2 * data.length_ratio.length + 2, data.short.length + 1];
function decode(domain) {
  var parts = domain.cells === "" ? [] : domain.cells.split(" ");
  var n = parts.length, key = 0;
  var d = {name: domain.name, n: n, overlap: new Uint16Array(n), novelty: new Uint16Array(n), ratio: new Uint16Array(n), short: new Uint16Array(n),
    turns: new Float64Array(n), length: new Float64Array(n), squares: new Float64Array(n), most: new Float64Array(n)};
  parts.forEach(function (part, i) {
    var f = part.split(".").map(function (s) { return parseInt(s, 36); });
    key += f[0];
    var k = key;
    d.short[i] = k % radix[2]; k = Math.floor(k / radix[2]);
    d.ratio[i] = k % radix[1]; k = Math.floor(k / radix[1]);
    d.novelty[i] = k % radix[0]; d.overlap[i] = Math.floor(k / radix[0]);
    d.length[i] = f[1];
    d.turns[i] = f.length > 2 ? f[2] : 1;
    var norm = f.length > 2 ? f[3] : f[1];
    d.squares[i] = norm * norm;
    d.most[i] = f.length > 2 ? f[4] : f[1];
  });
  return d;
}
var domains = data.domains.map(decode).filter(function (d) { return d.n > 0; });

// A table: bounds by their number on the grid. Shares are percentages, keep ratios too.
function number(text) { return parseFloat(text); }
function tableOf(t) {
  return {short: data.short.indexOf(t.short), other: number(t.other), rows: t.rows.map(function (r) {
    return {category: r.category, keep: number(r.keep), orShort: r.or_short, bounds: r.bounds.map(function (b) {
      return {name: b.name, on: b.on, sign: b.sign, at: data[b.on].indexOf(b.at)};
    })};
  })};
}
function copy(t) { return JSON.parse(JSON.stringify(t)); }
var current = tableOf(data.table), table = copy(current);

// holds tells whether a bound holds for the place of a cell; 0 is undefined.
function holds(b, place) {
  if (place === 0) return false;
  if (b.on !== "length_ratio") return b.sign === ">=" ? place >= b.at + 1 : place < b.at + 1;
  var exact = 2 * b.at + 2;
  return b.sign === ">" ? place > exact : b.sign === ">=" ? place >= exact : b.sign === "<" ? place < exact : place <= exact;
}
function rowHolds(t, r, d, i) {
  var short = d.short[i] <= t.short;
  for (var k = 0; k < r.bounds.length; k++) {
    var b = r.bounds[k];
    if (b.on === "length_ratio") {
      if (r.orShort && short) continue;
      if (!holds(b, d.ratio[i])) return false;
    } else if (!holds(b, b.on === "overlap" ? d.overlap[i] : d.novelty[i])) return false;
  }
  return true;
}

// count adds up a domain under a table, by category.
function count(t, d) {
  var sums = {};
  order.forEach(function (c) { sums[c] = {turns: 0, length: 0, keptTurns: 0, keptLength: 0, turnVariance: 0, lengthVariance: 0, most: 0}; });
  for (var i = 0; i < d.n; i++) {
    var category = "other", keep = t.other;
    for (var k = 0; k < t.rows.length; k++) {
      if (rowHolds(t, t.rows[k], d, i)) { category = t.rows[k].category; keep = t.rows[k].keep; break; }
    }
    var p = keep / 100, s = sums[category];
    s.turns += d.turns[i];
    s.length += d.length[i];
    s.keptTurns += p * d.turns[i];
    s.keptLength += p * d.length[i];
    s.turnVariance += p * (1 - p) * d.turns[i];
    s.lengthVariance += p * (1 - p) * (data.mode === "token" ? d.length[i] : d.squares[i]);
    if (p > 0 && p < 1) s.most = Math.max(s.most, data.mode === "token" ? 1 : d.most[i]);
  }
  return sums;
}
function join(to, from) {
  Object.keys(to).forEach(function (k) { to[k] = k === "most" ? Math.max(to[k], from[k]) : to[k] + from[k]; });
}
function total(sums) {
  var all = {turns: 0, length: 0, keptTurns: 0, keptLength: 0, turnVariance: 0, lengthVariance: 0, most: 0};
  order.forEach(function (c) { join(all, sums[c]); });
  return all;
}
function plus(list) {
  var sums = {};
  order.forEach(function (c) {
    sums[c] = {turns: 0, length: 0, keptTurns: 0, keptLength: 0, turnVariance: 0, lengthVariance: 0, most: 0};
    list.forEach(function (one) { join(sums[c], one[c]); });
  });
  return sums;
}

// What the page says of a table.
var scope = -1; // all domains
var before = domains.map(function (d) { return count(current, d); });
var results = el("div", {id: "what-if-results", "aria-live": "polite"});
function drawn() { return data.mode === "turn" || data.mode === "token" && data.unit === "tokens"; }
// bound is how far a run may lie from what is expected, but for one seed in 15,000: Bernstein's inequality, which holds
// for one turn as for a million. It has to reach no further than nothing or all.
function bound(variance, most, expected, all) {
  if (variance === 0) return 0;
  var l = Math.log(2 * 15000), a = l * most / 3;
  return Math.min(a + Math.sqrt(a * a + 2 * variance * l), Math.max(expected, all - expected));
}
function turnBound(s) { return bound(s.turnVariance, 1, s.keptTurns, s.turns); }
function lengthBound(s) { return bound(s.lengthVariance, s.most, s.keptLength, s.length); }
function band(t) { return drawn() ? " ± " + thousands(Math.ceil(t)) : ""; }
function cell(text, right, more) { return el("td", Object.assign(right ? {"class": "r"} : {}, more || {}), [text]); }
function change(now, then) {
  var diff = now - then;
  if (!isFinite(diff) || Math.abs(diff) < 0.00005) return el("td", {"class": "r"}, [""]);
  return el("td", {"class": "r " + (diff > 0 ? "up" : "down")}, [(diff > 0 ? "+" : "−") + percent(Math.abs(diff)).replace("%", "")]);
}
function head(names) {
  return el("thead", {}, [el("tr", {}, names.map(function (n, i) { return el("th", Object.assign({scope: "col"}, i ? {"class": "r"} : {}), [n]); }))]);
}
function show() {
  var after = domains.map(function (d) { return count(table, d); });
  var was = scope < 0 ? plus(before) : before[scope], is = scope < 0 ? plus(after) : after[scope];
  var wasAll = total(was), all = total(is);
  var unit = data.unit;
  var body = el("tbody", {}, order.map(function (c) {
    return el("tr", {"data-category": c, "data-turns": is[c].turns, "data-length": is[c].length, "data-kept-turns": is[c].keptTurns, "data-kept-length": is[c].keptLength,
        "data-kept-turns-band": turnBound(is[c]), "data-kept-length-band": lengthBound(is[c])}, [
      el("th", {scope: "row"}, [el("span", {"class": "key c-" + c}), c]),
      cell(thousands(was[c].turns), true), cell(percent(was[c].turns / wasAll.turns), true),
      cell(thousands(is[c].turns), true), cell(percent(is[c].turns / all.turns), true), change(is[c].turns / all.turns, was[c].turns / wasAll.turns),
      cell(percent(is[c].length / all.length), true),
      cell(thousands(is[c].keptTurns) + band(turnBound(is[c])), true), cell(thousands(is[c].keptLength) + band(lengthBound(is[c])), true)]);
  }));
  body.append(el("tr", {"class": "sum", "data-category": "all", "data-turns": all.turns, "data-kept-turns": all.keptTurns, "data-kept-length": all.keptLength,
      "data-kept-turns-band": turnBound(all), "data-kept-length-band": lengthBound(all)}, [
    el("th", {scope: "row"}, ["all"]), cell(thousands(wasAll.turns), true), cell("", true), cell(thousands(all.turns), true), cell("", true), cell("", true), cell("", true),
    cell(thousands(all.keptTurns) + band(turnBound(all)), true), cell(thousands(all.keptLength) + band(lengthBound(all)), true)]));
  var categories = el("table", {}, [el("caption", {}, ["Categories of " + (scope < 0 ? "all domains" : domains[scope].name)]),
    head(["category", "turns now", "share", "turns then", "share", "points", "share of " + unit, "kept turns then", "kept " + unit + " then"]), body]);
  var lines = el("tbody", {}, domains.map(function (d, i) {
    var a = total(before[i]), b = total(after[i]);
    return el("tr", {}, [el("th", {scope: "row"}, [d.name]), cell(thousands(a.turns), true),
      cell(percent(a.keptTurns / a.turns), true), cell(percent(b.keptTurns / b.turns), true), change(b.keptTurns / b.turns, a.keptTurns / a.turns),
      cell(percent(a.keptLength / a.length), true), cell(percent(b.keptLength / b.length), true), change(b.keptLength / b.length, a.keptLength / a.length)]);
  }));
  var each = el("table", {}, [el("caption", {}, ["What is expected to be kept, by domain"]),
    head(["domain", "turns", "kept turns now", "then", "points", "kept " + unit + " now", "then", "points"]), lines]);
  results.replaceChildren(el("div", {"class": "wrap"}, [categories]), el("div", {"class": "wrap"}, [each]));
  warn();
  yaml.value = yamlText();
}

// A table with a row that no turn can reach is refused by turnmill, and here as there: everything that statistics can
// be is cut at the table's thresholds into cells, and of each cell it is known whether some turn lies in it. The position
// 2i is a threshold, 2i + 1 what lies between it and the next, -1 undefined; an empty action stands behind all ratios.
function rational(text) {
  var part = text.replace("%", "").split("."), places = (part[1] || "").length;
  return {n: BigInt(part[0] + (part[1] || "")), d: BigInt(10) ** BigInt(places + (text.slice(-1) === "%" ? 2 : 0))};
}
function compare(a, b) { var x = a.n * b.d, y = b.n * a.d; return x < y ? -1 : x > y ? 1 : 0; }
function spaceOf(t) {
  var zero = {n: BigInt(0), d: BigInt(1)}, one = {n: BigInt(1), d: BigInt(1)};
  var cuts = {overlap: [zero, one], novelty: [zero, one], length_ratio: [zero]};
  var at = function (b) { return rational(data[b.on][b.at]); };
  t.rows.forEach(function (r) { r.bounds.forEach(function (b) { cuts[b.on].push(at(b)); }); });
  Object.keys(cuts).forEach(function (on) {
    cuts[on].sort(compare);
    cuts[on] = cuts[on].filter(function (x, i, all) { return i === 0 || compare(x, all[i - 1]) !== 0; });
  });
  var rows = t.rows.map(function (r) {
    return {orShort: r.orShort, bounds: r.bounds.map(function (b) {
      return {on: b.on, sign: b.sign, at: 2 * cuts[b.on].findIndex(function (x) { return compare(x, at(b)) === 0; })};
    })};
  });
  return {cuts: cuts, rows: rows, short: BigInt(data.short[t.short]), longest: {}};
}
function last(s, on) { return 2 * (s.cuts[on].length - 1); }
function ends(s, on, place) { return {from: s.cuts[on][place >> 1], to: s.cuts[on][(place + 1) >> 1]}; }
// longest is the longest short observation for which some action gives the ratio, with the longest such action.
function longest(s, place) {
  if (place in s.longest) return s.longest[place];
  var e = ends(s, "length_ratio", place), found = null, none = BigInt(0), one = BigInt(1);
  for (var lo = s.short; lo > none && !found; lo -= one) {
    if (e.from === e.to) {
      if (lo * e.from.d % e.from.n === none) found = {lo: lo, la: lo * e.from.d / e.from.n};
    } else if (e.from.n === none) found = {lo: lo, la: null}; // any length
    else {
      var la = (lo * e.from.d + e.from.n - one) / e.from.n - one;
      if (la > none && (!e.to || lo * e.to.d < e.to.n * la)) found = {lo: lo, la: la};
    }
  }
  return s.longest[place] = found;
}
// leastWhole is the least x for which b / x lies strictly between from and to, or at both.
function leastWhole(b, from, to) {
  var x = b * to.d / to.n;
  if (compare(from, to) === 0) return x * to.n === b * to.d ? x : null;
  x += BigInt(1);
  return b * from.d > from.n * x ? x : null;
}
function less(r) { return {n: r.d - r.n, d: r.d}; }
function possible(s, ol, nov, ratio, short) {
  var all = last(s, "novelty"), none = BigInt(0);
  if (ol < 0 && nov >= 0 && nov !== all || nov < 0 && ol > 0 || ol >= 0 && nov >= 0 && (ol === 0) !== (nov === all)) return false;
  if (ratio < 0) return ol < 0 && nov < 0 && short;
  if (ratio === 0) return nov < 0 && short;
  if (ratio === last(s, "length_ratio") + 2) return ol < 0 && (!short || s.short > none);
  if (!short) return true;
  var most = longest(s, ratio);
  if (!most || ol <= 0) return !!most;
  var e = ends(s, "overlap", ol), f = ends(s, "novelty", nov);
  for (var b = BigInt(1); b <= most.lo; b += BigInt(1)) {
    var a = leastWhole(b, e.from, e.to);
    if (a === null || most.la !== null && a > most.la) continue;
    var o = leastWhole(b, less(f.to), less(f.from));
    if (o !== null && o <= most.lo) return true;
  }
  return false;
}
function takes(r, place, short) {
  return r.bounds.every(function (b) {
    if (b.on === "length_ratio" && r.orShort && short) return true;
    var p = place[b.on];
    return p >= 0 && (b.sign === ">=" ? p >= b.at : b.sign === ">" ? p > b.at : b.sign === "<" ? p < b.at : p <= b.at);
  });
}
function eachCell(s, visit) {
  for (var ol = -1; ol <= last(s, "overlap"); ol++) for (var nov = -1; nov <= last(s, "novelty"); nov++)
    for (var ratio = -1; ratio <= last(s, "length_ratio") + 2; ratio++) for (var short = 0; short < 2; short++)
      visit({overlap: ol, novelty: nov, length_ratio: ratio}, short === 1);
}
// hidden returns what is wrong with the rows that no turn reaches.
function hidden(t) {
  var s = spaceOf(t), reached = t.rows.map(function () { return false; }), bad = [];
  eachCell(s, function (p, short) {
    var first = s.rows.findIndex(function (r) { return takes(r, p, short); });
    if (first >= 0 && !reached[first] && possible(s, p.overlap, p.novelty, p.length_ratio, short)) reached[first] = true;
  });
  reached.forEach(function (yes, i) {
    if (yes) return;
    var hiders = [], name = function (k) { return "row " + (k + 1) + " (" + t.rows[k].category + ")"; };
    eachCell(s, function (p, short) {
      if (!takes(s.rows[i], p, short)) return;
      var first = s.rows.findIndex(function (r) { return takes(r, p, short); });
      if (hiders.indexOf(first) < 0 && possible(s, p.overlap, p.novelty, p.length_ratio, short)) hiders.push(first);
    });
    hiders.sort();
    bad.push(name(i) + (hiders.length ? ": never reached, " + hiders.map(name).join(" with ") + " above it takes every such turn" : ": no turn can fulfil its bounds"));
  });
  return bad;
}
var warning = el("p", {"class": "warn", role: "status"});
function warn() {
  var bad = hidden(table);
  warning.textContent = bad.length ? "turnmill refuses this table: " + bad.join("; ") : "";
}

// The table as --mask-table takes it.
var yaml = el("textarea", {id: "what-if-yaml", readonly: "", hidden: "", spellcheck: "false", "aria-label": "The table as YAML for --mask-table"});
function yamlText() {
  var lines = ["short: " + data.short[table.short], "other: " + table.other + "%", "rows:"];
  table.rows.forEach(function (r) {
    lines.push("  - category: " + r.category, "    keep: " + r.keep + "%");
    r.bounds.forEach(function (b) { lines.push("    " + b.name + ": " + data[b.on][b.at]); });
    if (r.orShort) lines.push("    or_short: true");
  });
  return lines.join("\n") + "\n";
}

// Controls. A slider's value is a number on the grid, or a keep ratio in points.
var pending = 0;
function soon() { if (!pending) pending = requestAnimationFrame(function () { pending = 0; show(); }); }
function slider(id, label, value, from, to, text, set, more) {
  var out = el("output", {"for": id}, [text(value)]);
  var input = el("input", {type: "range", id: id, min: from, max: to, step: 1, value: value, "aria-valuetext": text(value), oninput: function () {
    set(Number(input.value));
    out.textContent = text(Number(input.value));
    input.setAttribute("aria-valuetext", out.textContent);
    soon();
  }});
  return el("div", {"class": "slider"}, [el("label", {"for": id}, [label]), el("span", {}, [out].concat(more || [])), input]);
}
function keepSlider(id, row, name) {
  return slider(id, "keep", row[name], 0, 100, function (v) { return v + "%"; }, function (v) { row[name] = v; });
}
function words(b) { return b.on.replace("_", " ") + " " + b.sign; }
function place(kind) { return data.table.kinds.findIndex(function (k) { return k.name === kind.name; }); }
function boundSlider(id, r, b) {
  var remove = el("button", {type: "button", id: id + b.name + "-remove", "class": "small", "aria-label": "remove " + words(b) + " of " + r.category, onclick: function () {
    r.bounds.splice(r.bounds.indexOf(b), 1);
    if (!r.bounds.some(onLength)) r.orShort = false;
    draw(id + "add");
    show();
  }}, ["×"]);
  return slider(id + b.name, words(b), b.at, 0, data[b.on].length - 1, function (v) { return data[b.on][v]; }, function (v) { b.at = v; }, [" ", remove]);
}
function onLength(b) { return b.on === "length_ratio"; }
// adder lets a bound be added: at first where it takes the least away.
function adder(id, r) {
  var free = data.table.kinds.filter(function (k) { return r.bounds.every(function (b) { return b.name !== k.name; }); });
  if (free.length === 0) return "";
  var pick = el("select", {id: id + "kind", "aria-label": "bound to add to " + r.category}, free.map(function (k) { return el("option", {value: k.name}, [words(k)]); }));
  return el("div", {"class": "adder"}, [pick, " ", el("button", {type: "button", id: id + "add", "aria-label": "add the bound to " + r.category, onclick: function () {
    var kind = free.filter(function (k) { return k.name === pick.value; })[0];
    r.bounds.push({name: kind.name, on: kind.on, sign: kind.sign, at: kind.sign[0] === ">" ? 0 : data[kind.on].length - 1});
    r.bounds.sort(function (a, b) { return place(a) - place(b); });
    draw(id + kind.name);
    show();
  }}, ["add"])]);
}
function orShort(id, r) {
  if (!r.bounds.some(onLength)) return "";
  var box = el("input", {type: "checkbox", id: id + "short", onchange: function () { r.orShort = box.checked; show(); }});
  box.checked = r.orShort;
  return el("div", {"class": "adder"}, [box, " ", el("label", {"for": id + "short"}, ["length ratio, or short"])]);
}
var controls = el("div", {"class": "controls"});
function draw(focus) {
  controls.replaceChildren();
  table.rows.forEach(function (r, i) {
    var id = "w-" + i + "-";
    var move = function (by, name) {
      var attributes = {type: "button", id: id + name, "aria-label": "try " + r.category + (by < 0 ? " earlier" : " later"), onclick: function () {
        table.rows.splice(i, 1);
        table.rows.splice(i + by, 0, r);
        draw("w-" + (i + by) + "-" + name);
        show();
      }};
      if (i + by < 0 || i + by >= table.rows.length) attributes.disabled = "";
      return el("button", attributes, [by < 0 ? "↑" : "↓"]);
    };
    var grid = el("div", {"class": "grid"}, [keepSlider(id + "keep", r, "keep")]);
    r.bounds.forEach(function (b) { grid.append(boundSlider(id, r, b)); });
    grid.append(orShort(id, r), adder(id, r));
    controls.append(el("fieldset", {"class": "rule", "data-category": r.category}, [
      el("legend", {}, [el("span", {"class": "key c-" + r.category}), (i + 1) + ". " + r.category + " ", move(-1, "up"), " ", move(1, "down")]), grid]));
  });
  controls.append(el("fieldset", {"class": "rule"}, [el("legend", {}, ["no row, and what is short"]), el("div", {"class": "grid"}, [
    keepSlider("w-other-keep", table, "other"),
    slider("w-short", "short: at most so many characters", table.short, 0, data.short.length - 1, function (v) { return thousands(data.short[v]); }, function (v) { table.short = v; })])]));
  var target = focus && document.getElementById(focus);
  if (target) (target.disabled ? target.parentNode.querySelector("button:not([disabled])") || target : target).focus();
}
var pick = el("select", {id: "what-if-scope", onchange: function () { scope = Number(pick.value); show(); }},
  [el("option", {value: -1}, ["all domains"])].concat(domains.map(function (d, i) { return el("option", {value: i}, [d.name]); })));
var copied = el("span", {role: "status"});
app.append(
  el("p", {"class": "note"}, ["Move a bound, add one or take one away: the turns of each category are counted anew, exactly, since every bound of a slider lies on the grid of the counts. " +
    (drawn() ? "What is kept is the expected value; a run with the table lies within the band beside it for all but one seed in 15,000." :
    data.mode === "span" || data.mode === "changed" ?
    "In this mode a turn that the draw leaves out carries loss in part: kept is the table's ratio of whole turns and their " + data.unit + "." :
    "In this mode nothing is drawn by turn: kept is the table's ratio of all turns and " + data.unit + ".")]),
  controls, warning,
  el("div", {"class": "tools"}, [
    el("button", {type: "button", id: "what-if-reset", onclick: function () { table = copy(current); draw(); show(); }}, ["Back to the table in force"]),
    el("button", {type: "button", id: "what-if-yaml-button", onclick: function () {
      yaml.hidden = false;
      yaml.focus();
      yaml.select();
      copied.textContent = "";
      if (navigator.clipboard) navigator.clipboard.writeText(yaml.value).then(function () { copied.textContent = "copied"; }, function () {});
    }}, ["YAML for --mask-table"]), copied,
    el("label", {"for": "what-if-scope"}, ["Domain"]), pick]),
  yaml, results);
draw();
show();
app.hidden = false;

// A link to an example opens what it lies in.
function reveal() {
  var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (var e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  if (target) target.scrollIntoView();
}
window.addEventListener("hashchange", reveal);
reveal();
})();
