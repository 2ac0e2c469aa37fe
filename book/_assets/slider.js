(function () {
  var NS = "http://www.w3.org/2000/svg";
  function unpack(text) {
    var raw = atob(text), out = new Float64Array(raw.length / 2);
    for (var i = 0; i < out.length; i++) out[i] = (raw.charCodeAt(2 * i) + 256 * raw.charCodeAt(2 * i + 1)) / 65535;
    return out;
  }
  function digits(value, most) {
    return value.toLocaleString("en", most ? {maximumSignificantDigits: most} : {});
  }
  function add(parent, name, attributes, text) {
    var node = document.createElementNS(NS, name);
    for (var key in attributes) node.setAttribute(key, attributes[key]);
    if (text) node.textContent = text;
    return parent.appendChild(node);
  }
  function setUp(root) {
    root.setAttribute("data-ready", "");
    var c = JSON.parse(root.querySelector(".ns-content").textContent), svg = root.querySelector("svg");
    var range = root.querySelector("input"), button = root.querySelector("button"), out = root.querySelector("output");
    var points = unpack(c.data), path = unpack(c.path), n = c.n, last = c.t.length - 1, i, k;
    function px(v) { return (40 + 360 * v).toFixed(1); }
    function py(v) { return (374 - 360 * v).toFixed(1); }
    var shares = [];
    c.curves.forEach(function (curve) {
      curve.values.forEach(function (v) { shares.push(v / (curve.values[0] || 1)); });
    });
    var most = Math.max.apply(null, shares), least = Math.min.apply(null, shares), log = least > 0 && most > 20 * least;
    function scale(v) { return log ? Math.log10(v) : v; }
    var low = log ? scale(least) : 0, span = scale(most) - low || 1;
    function qx(f) { return (470 + 236 * c.t[f] / (c.t[last] || 1)).toFixed(1); }
    function height(share) { return (340 - 310 * (scale(share) - low) / span).toFixed(1); }
    function qy(curve, f) { return height(curve.values[f] / (curve.values[0] || 1)); }
    var d = "";
    for (i = 0; i < points.length; i += 2) d += "M" + px(points[i]) + " " + py(points[i + 1]) + "h.01";
    add(svg, "path", {d: d, stroke: "@DATA", "stroke-width": 2, "stroke-linecap": "round", fill: "none"});
    add(svg, "rect", {x: 40, y: 14, width: 360, height: 360, fill: "none", stroke: "@GRID"});
    var trails = add(svg, "path", {fill: "none", stroke: "@PATH", "stroke-width": 1.2});
    var marks = [];
    for (i = 0; i < n; i++) add(svg, "rect", {x: px(path[2 * i]) - 3, y: py(path[2 * i + 1]) - 3, width: 6, height: 6,
      fill: "@INITIAL", stroke: "@INK", "stroke-width": 0.6});
    for (i = 0; i < n; i++) marks.push(add(svg, "circle", {r: 4, fill: "@OPTIMISED", stroke: "#fff"}));
    add(svg, "path", {d: "M470 24V350H710", fill: "none", stroke: "@REFERENCE"});
    function text(x, y, anchor, words, colour) {
      add(svg, "text", {x: x, y: y, "text-anchor": anchor, "font-size": 12, fill: colour || "@INK"}, words);
    }
    c.curves.forEach(function (curve) {
      var d = "";
      for (var k = 0; k <= last; k++) d += (k ? "L" : "M") + qx(k) + " " + qy(curve, k);
      add(svg, "path", {d: d, fill: "none", stroke: curve.colour, "stroke-width": 1.6});
      text(706, Number(qy(curve, last)) - 8, "end", curve.name, curve.colour);
      curve.dot = add(svg, "circle", {r: 5, fill: curve.colour, stroke: "#fff"});
    });
    text(590, 384, "middle", "iteration t"); text(470, 366, "middle", "0");
    text(706, 366, "end", digits(c.t[last]));
    text(590, 20, "middle", "share of the value at the start" + (log ? " (logarithmic)" : ""));
    for (k = 1; log ? k >= least : k >= 0; k = log ? k / 10 : Math.round(10 * k - 5) / 10) {
      text(464, Number(height(k)) + 4, "end", digits(k, 3));
    }
    function show() {
      var f = Number(range.value), base = 2 * n * f, lines = "";
      for (var i = 0; i < n; i++) {
        marks[i].setAttribute("cx", px(path[base + 2 * i])); marks[i].setAttribute("cy", py(path[base + 2 * i + 1]));
        for (var k = 0; k <= f; k++) {
          lines += (k ? "L" : "M") + px(path[2 * n * k + 2 * i]) + " " + py(path[2 * n * k + 2 * i + 1]);
        }
      }
      trails.setAttribute("d", lines);
      var words = "t = " + digits(c.t[f]) + " of " + digits(c.t[last]);
      c.curves.forEach(function (curve) {
        curve.dot.setAttribute("cx", qx(f)); curve.dot.setAttribute("cy", qy(curve, f));
        words += ", " + curve.name + " = " + digits(curve.values[f], 4);
      });
      out.textContent = words; range.setAttribute("aria-valuetext", words);
    }
    var timer = null;
    function stop() {
      clearInterval(timer); timer = null;
      button.textContent = "Play"; button.setAttribute("aria-label", "Play the descent");
    }
    function play() {
      // Whoever asked for less motion sees ten still pictures, a second each.
      var still = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (Number(range.value) >= last) range.value = 0;
      button.textContent = "Pause"; button.setAttribute("aria-label", "Pause the descent");
      timer = setInterval(function () {
        range.value = Math.min(last, Number(range.value) + (still ? Math.ceil(last / 10) : 1)); show();
        if (Number(range.value) >= last) stop();
      }, still ? 1000 : 40);
    }
    button.addEventListener("click", function () { if (timer === null) play(); else stop(); });
    range.addEventListener("input", function () { if (timer !== null) stop(); show(); });
    show();
  }
  document.querySelectorAll(".nystrom-slider:not([data-ready])").forEach(function (root) {
    if (root.querySelector(".ns-content")) setUp(root);
  });
})();
