// The playground: landmarks to drag, a descent to watch. What it computes is in nystrom.js, what it begins with in
// playground-data.js. The console has the landmarks and all settings in playground.state.

(() => {
  "use strict";

  const root = document.querySelector(".playground");
  const find = selector => root.querySelector(selector);
  const plane = find(".pg-plane"), canvas = find("canvas"), layer = find(".pg-landmarks"), message = find(".pg-message");
  const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");

  const POINTS = new Float64Array(Uint8Array.from(atob(playgroundData.points), c => c.charCodeAt(0)).buffer);
  const N = POINTS.length / 2;
  const MOST = playgroundData.order.length;
  const RHOS = Object.keys(playgroundData.best).map(Number).sort((a, b) => a - b);
  const REACH = 1.12;           // the picture goes from −REACH to REACH
  const AT_REST = 1e-5;         // a step in which no landmark moves further than this is the last
  const CORNER = [-0.75, 0.75]; // clustered landmarks are drawn from the data points nearest to it
  const SPARSE = 9;

  // 1, 2, 5, 10, … times ten to the given power.
  const ladder = (from, to) => Array.from({length: 3 * (to - from) + 1}, (_, i) =>
    Number(`${[1, 2, 5][i % 3]}e${from + Math.floor(i / 3)}`));
  const GAMMAS = {R: ladder(-7, -3), trace: ladder(-5, -1)};

  const state = {
    rho: 16, n: 50, start: "random", target: "R", gamma: {R: 1e-6, trace: 2e-4},
    order: playgroundData.order, // data points for a random start
    sample: new Float64Array(0), // the landmarks: x₀, y₀, x₁, y₁, …
    slope: null,                 // the gradient of R there
    trails: [],                  // where each of them has been
    steps: 0, history: [],       // {t, R, trace} after each step; trace is NaN where double precision loses it
    residuals: null, scale: 1,   // residual of each data point, and the residual shown in full red
    rises: [],                   // whether each of the last ten steps went up
    chosen: 0, held: -1, playing: false,
  };
  root.state = state;
  const squaredNorms = new Map(); // ‖K‖_F² by ρ

  // -- the descent ---------------------------------------------------------------------------------------------

  function startingSample() {
    const n = state.n;
    const points = indices => Float64Array.from(indices.flatMap(i => [POINTS[2 * i], POINTS[2 * i + 1]]));
    if (state.start === "clustered") {
      const distance = i => (POINTS[2 * i] - CORNER[0]) ** 2 + (POINTS[2 * i + 1] - CORNER[1]) ** 2;
      const near = [...Array(N).keys()].sort((i, j) => distance(i) - distance(j));
      return points(Array.from({length: n}, (_, k) => near[SPARSE * k]));
    }
    const drawn = points(state.order.slice(0, n));
    return state.start === "k-means" ? nystrom.kMeans(POINTS, drawn) : drawn;
  }

  function reset(words = "Press Play, or drag a landmark.") {
    state.sample = startingSample();
    state.trails = Array.from({length: state.n}, (_, k) => [state.sample[2 * k], state.sample[2 * k + 1]]);
    state.steps = 0;
    state.history = [];
    state.rises = [];
    state.chosen = 0;
    state.held = -1;
    if (!squaredNorms.has(state.rho)) squaredNorms.set(state.rho, nystrom.squaredNorm(POINTS, state.rho));
    measure();
    // A few points with much larger residuals than the others must not hide these.
    state.scale = state.residuals ? Math.min(Math.max(...state.residuals), 5 * last().trace / N) : 1;
    say(words);
    draw();
  }

  // R and the trace error of the landmarks as they are now.
  function measure() {
    const R = nystrom.radialSKD(POINTS, state.sample, state.rho, squaredNorms.get(state.rho));
    const trace = nystrom.traceError(POINTS, state.sample, state.rho);
    state.residuals = trace.lost ? null : trace.residuals;
    state.slope = R.gradient;
    state.history.push({t: state.steps, R: R.value, trace: trace.lost ? NaN : trace.value});
  }

  const last = () => state.history[state.history.length - 1];

  // One step of the descent. Returns whether to continue.
  function step() {
    const before = last(), gamma = state.gamma[state.target];
    const gradient = state.target === "R" ? state.slope : nystrom.traceGradient(POINTS, state.sample, state.rho);
    if (!gradient.every(Number.isFinite)) {
      say("The landmarks are too close for the gradient of the trace error. Descend on R first.", true);
      return false;
    }
    let furthest = 0;
    for (let k = 0; k < state.n; k++) {
      if (k === state.held) continue;
      for (const l of [0, 1]) {
        const move = gamma * gradient[2 * k + l];
        state.sample[2 * k + l] -= move;
        furthest = Math.max(furthest, Math.abs(move));
      }
      state.trails[k].push(state.sample[2 * k], state.sample[2 * k + 1]);
      if (state.trails[k].length > 4000) state.trails[k] = thinned(state.trails[k]);
    }
    state.steps++;
    measure();
    return judge(before, last(), furthest);
  }

  // Every second point of a trail, including the first and the last.
  const thinned = trail => trail.filter((_, i) => (i >> 1) % 2 === 0 || i >= trail.length - 2);

  // Report what a step has done; return whether to continue.
  function judge(before, after, furthest) {
    const name = state.target === "R" ? "R" : "the trace error";
    state.rises = [...state.rises.slice(-9), after[state.target] > before[state.target] * (1 + 1e-9)];
    const rises = state.rises.filter(Boolean).length;
    const outside = state.trails.filter((_, k) => isOutside(k)).length;
    if (outside > state.n / 2) {
      say(`Diverged: ${outside} of ${state.n} landmarks have left the data. Reset, and choose a smaller γ.`, true);
      return false;
    }
    if (rises) {
      const away = outside ? ` ${outside} of ${state.n} landmarks have left the picture.` : "";
      say(`γ is too large here: ${name} rose in ${rises} of the last ${state.rises.length} steps.${away}`, true);
    } else if (furthest < AT_REST && state.held < 0) {
      say(`Converged after ${state.steps} steps: a local minimum of ${name}.`);
      return false;
    } else if (Number.isNaN(after.trace)) {
      say("The landmarks are too close to each other for the trace error in double precision.");
    } else {
      say(`Descending on ${name}.`);
    }
    return true;
  }

  // -- playing -------------------------------------------------------------------------------------------------

  function play() {
    state.playing = true;
    showPlaying();
    requestAnimationFrame(frame);
  }

  function pause() {
    state.playing = false;
    showPlaying();
  }

  function showPlaying() {
    const button = find(".pg-play");
    button.textContent = state.playing ? "Pause" : "Play";
    button.classList.toggle("pg-playing", state.playing);
  }

  // A step a frame to begin with, then up to five; with reduced motion, one picture each second.
  function frame() {
    if (!state.playing) return;
    const still = lessMotion.matches, began = performance.now();
    const most = still ? 40 : Math.min(5, 1 + Math.floor(state.steps / 60));
    for (let i = 0; i < most && state.playing && (still || performance.now() - began < 14); i++) {
      if (!step()) pause();
    }
    draw();
    if (state.playing) still ? setTimeout(frame, 1000) : requestAnimationFrame(frame);
  }

  // -- landmarks by hand ---------------------------------------------------------------------------------------

  // After a change by hand the curves jump where they are: the last entry is replaced.
  function changed(words) {
    state.history.pop();
    state.rises = [];
    measure();
    say(words);
    draw();
  }

  const shown = value => value.toFixed(2).replace("-", "−");
  const where = k => `(${shown(state.sample[2 * k])}, ${shown(state.sample[2 * k + 1])})`;
  const inside = (x, y) => Math.abs(x) <= REACH && Math.abs(y) <= REACH;
  const isOutside = k => !inside(state.sample[2 * k], state.sample[2 * k + 1]);

  function move(k, x, y) {
    state.sample[2 * k] = x;
    state.sample[2 * k + 1] = y;
    state.trails[k] = [x, y];
    state.chosen = k;
    changed(`Landmark ${k + 1} is at ${where(k)}.`);
  }

  function add(x, y) {
    if (state.n === MOST) return say(`There are ${MOST} landmarks; the playground takes no more.`);
    state.sample = Float64Array.of(...state.sample, x, y);
    state.trails.push([x, y]);
    state.chosen = state.n++;
    changed(`Added landmark ${state.n} at ${where(state.chosen)}.`);
  }

  function remove(k) {
    if (state.n === 1) return say("At least one landmark is needed.");
    state.sample = state.sample.filter((_, i) => i >> 1 !== k);
    state.trails.splice(k, 1);
    state.n--;
    state.chosen = Math.min(state.chosen, state.n - 1);
    changed(`Removed a landmark; ${state.n} are left.`);
  }

  const place = event => {
    const box = layer.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width * 2 - 1) * REACH, (1 - (event.clientY - box.top) / box.height * 2) * REACH];
  };

  let grabbed = false; // a click that ends a drag adds nothing
  layer.addEventListener("pointerdown", event => {
    const mark = event.target.closest(".pg-landmark");
    grabbed = Boolean(mark);
    if (!mark || event.button !== 0) return;
    event.preventDefault();
    layer.focus({preventScroll: true});
    mark.setPointerCapture(event.pointerId);
    state.held = state.chosen = marks.indexOf(mark);
    draw();
  });
  // Chromium scrolls the page under a finger on an SVG circle, whatever its touch-action says, unless it is prevented here.
  layer.addEventListener("touchstart", event => {
    if (event.target.closest(".pg-landmark")) event.preventDefault();
  }, {passive: false});
  layer.addEventListener("pointermove", event => {
    if (state.held < 0) return;
    const [x, y] = place(event);
    const edge = value => Math.max(-REACH, Math.min(REACH, value));
    move(state.held, edge(x), edge(y));
  });
  layer.addEventListener("pointerup", event => {
    const held = state.held;
    state.held = -1;
    if (held >= 0 && !inside(...place(event))) remove(held);
    else draw();
  });
  layer.addEventListener("pointercancel", () => { state.held = -1; draw(); });
  layer.addEventListener("click", event => {
    if (!grabbed && event.target === layer) add(...place(event));
  });
  layer.addEventListener("dblclick", event => {
    const mark = event.target.closest(".pg-landmark");
    if (mark) remove(marks.indexOf(mark));
  });

  layer.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const k = state.chosen, by = event.shiftKey ? 0.1 : 0.02;
    const [x, y] = [state.sample[2 * k], state.sample[2 * k + 1]];
    const choose = to => {
      state.chosen = (to + state.n) % state.n;
      say(`Landmark ${state.chosen + 1} of ${state.n}, at ${where(state.chosen)}.`);
      draw();
    };
    const actions = {
      ArrowLeft: () => move(k, x - by, y), ArrowRight: () => move(k, x + by, y),
      ArrowUp: () => move(k, x, y + by), ArrowDown: () => move(k, x, y - by),
      n: () => choose(k + 1), p: () => choose(k - 1), PageDown: () => choose(k + 1), PageUp: () => choose(k - 1),
      Insert: () => add(x + 0.1, y), "+": () => add(x + 0.1, y),
      Delete: () => remove(k), Backspace: () => remove(k),
      " ": () => find(".pg-play").click(), s: () => find(".pg-step").click(),
    };
    const action = actions[event.key] || actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });

  // -- the controls --------------------------------------------------------------------------------------------

  const digits = (value, most = 3) => value.toLocaleString("en", {maximumSignificantDigits: most});
  const superscript = power => [...String(power)].map(c => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
  const power = value => {
    const [mantissa, exponent] = value.toExponential().split("e");
    return `${mantissa === "1" ? "" : mantissa + " × "}10${superscript(Number(exponent))}`;
  };
  const share = value => `${digits(100 * value)} %`;
  const three = value => (100 * value).toLocaleString("en", {minimumSignificantDigits: 3, maximumSignificantDigits: 3});

  // A slider over a list of values: `read` and `write` are those of the state.
  function slider(name, values, words, read, write) {
    const label = find(`[data-of="${name}"].pg-slider`), input = label.querySelector("input");
    input.min = 0;
    input.addEventListener("input", () => { write(values()[input.value]); draw(); });
    return () => {
      const list = values(), value = read();
      input.max = list.length - 1;
      input.value = list.reduce((best, v, i) => Math.abs(Math.log(v / value)) < Math.abs(Math.log(list[best] / value)) ? i : best, 0);
      label.querySelector("output").textContent = words(value);
      input.setAttribute("aria-valuetext", words(value));
    };
  }
  const sliders = [
    slider("n", () => Array.from({length: MOST}, (_, i) => i + 1), String, () => state.n, n => { state.n = n; reset(); }),
    slider("rho", () => RHOS, String, () => state.rho, rho => { state.rho = rho; reset(); }),
    slider("gamma", () => GAMMAS[state.target], power, () => state.gamma[state.target],
      gamma => { state.gamma[state.target] = gamma; }),
  ];

  function set(settings) {
    const {gamma, ...others} = settings;
    Object.assign(state, others);
    if (gamma) state.gamma[state.target] = gamma;
    root.querySelectorAll("input[type=radio]").forEach(input => {
      input.checked = input.value === (input.name === "pg-target" ? state.target : state.start);
    });
  }

  // The state that the address asks for, as in playground.html?n=8&rho=1&start=clustered&target=trace&gamma=1e-3; values
  // that the controls do not have are ignored.
  function setFromAddress() {
    const asked = new URLSearchParams(location.search), settings = {};
    const choices = {start: ["random", "k-means", "clustered"], target: ["R", "trace"], rho: RHOS};
    for (const [name, allowed] of Object.entries(choices)) {
      const value = allowed.find(each => String(each) === asked.get(name));
      if (value !== undefined) settings[name] = value;
    }
    const n = Number(asked.get("n")), gamma = Number(asked.get("gamma"));
    if (Number.isInteger(n) && n >= 1 && n <= MOST) settings.n = n;
    if (GAMMAS[settings.target || "R"].includes(gamma)) settings.gamma = gamma;
    set(settings);
  }

  find(".pg-play").addEventListener("click", () => state.playing ? pause() : play());
  find(".pg-step").addEventListener("click", () => { pause(); step(); draw(); });
  find(".pg-reset").addEventListener("click", () => { pause(); reset(); });
  find(".pg-again").addEventListener("click", () => {
    const all = [...Array(N).keys()];
    state.order = Array.from({length: MOST}, () => all.splice(Math.floor(Math.random() * all.length), 1)[0]);
    set({start: "random"});
    reset();
  });
  root.querySelectorAll("[name=pg-start]").forEach(input => input.addEventListener("change", () => {
    set({start: input.value});
    reset();
  }));
  root.querySelectorAll("[name=pg-target]").forEach(input => input.addEventListener("change", () => {
    set({target: input.value});
    state.rises = [];
    say(`The next steps descend on ${state.target === "R" ? "R" : "the trace error"}.`);
    draw();
  }));
  document.querySelectorAll("[data-try]").forEach(button => button.addEventListener("click", () => {
    pause();
    state.order = playgroundData.order;
    set(JSON.parse(button.dataset.try));
    reset("The scene is set. Press Play.");
    root.scrollIntoView({behavior: lessMotion.matches ? "auto" : "smooth", block: "nearest"});
    find(".pg-play").focus({preventScroll: true});
  }));

  function say(words, warning = false) {
    if (message.textContent !== words) message.textContent = words;
    message.classList.toggle("pg-warning", warning);
  }

  // -- drawing -------------------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  const element = (name, attributes, parent, words = "") => {
    const made = parent.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = words;
    return made;
  };
  const marks = [];

  // Draw everything, at most once per frame.
  let asked = 0;
  function draw() {
    asked = asked || requestAnimationFrame(() => { asked = 0; drawAll(); });
  }

  function drawAll() {
    drawPoints();
    drawLandmarks();
    drawCurve("R", squaredNorms.get(state.rho), "‖K‖²");
    drawCurve("trace", N, "tr K", playgroundData.best[state.rho][state.n - 1]);
    sliders.forEach(show => show());
    find(".pg-steps output").textContent = state.steps.toLocaleString("en");
    find(".pg-top").textContent = state.residuals ? `residual ${share(state.scale)}${state.scale > 0.99 ? "" : " or more"}` : "unknown";
  }

  const side = () => plane.clientWidth;
  const toX = x => (x / REACH + 1) / 2 * side();
  const toY = y => (1 - y / REACH) / 2 * side();

  // The data, from grey to red with growing residual, and over them the trails.
  function drawPoints() {
    const size = side(), sharp = window.devicePixelRatio || 1, style = getComputedStyle(root);
    const colour = name => style.getPropertyValue(`--pg-${name}`).trim();
    canvas.width = canvas.height = size * sharp;
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    const levels = Array.from({length: 13}, () => []);
    for (let i = 0; i < N; i++) {
      const level = state.residuals ? Math.round(12 * Math.min(1, state.residuals[i] / state.scale)) : 0;
      levels[level].push(i);
    }
    const radius = Math.max(1.3, size / 300);
    levels.forEach((points, level) => {
      pen.fillStyle = `color-mix(in srgb, ${colour("miss")} ${level / 0.12}%, ${colour("data")})`;
      pen.beginPath();
      for (const i of points) {
        const x = toX(POINTS[2 * i]), y = toY(POINTS[2 * i + 1]);
        pen.moveTo(x + radius, y);
        pen.arc(x, y, radius, 0, 7);
      }
      pen.fill();
    });
    pen.strokeStyle = colour("trail");
    pen.lineWidth = 1.3;
    pen.globalAlpha = 0.75;
    pen.beginPath();
    for (const trail of state.trails) {
      for (let i = 0; i < trail.length; i += 2) pen[i ? "lineTo" : "moveTo"](toX(trail[i]), toY(trail[i + 1]));
    }
    pen.stroke();
    pen.globalAlpha = 1;
    pen.strokeStyle = colour("start");
    for (const trail of state.trails) if (trail.length > 2) pen.strokeRect(toX(trail[0]) - 2.5, toY(trail[1]) - 2.5, 5, 5);
  }

  // A landmark outside of the picture is drawn hollow, at its edge.
  function drawLandmarks() {
    while (marks.length > state.n) marks.pop().remove();
    while (marks.length < state.n) {
      const mark = element("g", {class: "pg-landmark"}, layer);
      element("circle", {class: "pg-hit", r: 14}, mark);
      element("circle", {class: "pg-dot", r: 6.5}, mark);
      marks.push(mark);
    }
    const edge = value => Math.max(8, Math.min(side() - 8, value));
    marks.forEach((mark, k) => {
      mark.setAttribute("transform", `translate(${edge(toX(state.sample[2 * k]))} ${edge(toY(state.sample[2 * k + 1]))})`);
      mark.classList.toggle("pg-outside", isOutside(k));
      mark.classList.toggle("pg-held", k === state.held);
      mark.classList.toggle("pg-chosen", k === state.chosen && document.activeElement === layer);
    });
    layer.setAttribute("aria-label", `The plane with ${state.n} landmarks; number ${state.chosen + 1} is chosen`);
  }

  const nice = value => [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map(m => m * 10 ** Math.floor(Math.log10(value))).find(v => v >= value * 0.9999);

  // A share against the steps, from zero up; on a logarithmic axis if it falls very far.
  function drawCurve(name, whole, wholeName, best) {
    const card = find(`.pg-chart[data-of="${name}"]`), svg = card.querySelector("svg");
    const width = svg.clientWidth, height = svg.clientHeight, left = 44, bottom = height - 20, right = width - 10;
    const values = state.history.map(entry => entry[name] / whole), known = values.filter(v => v > 0);
    const now = values[values.length - 1], first = values[0];
    const value = card.querySelector(".pg-value"), lost = Number.isNaN(now);
    value.classList.toggle("pg-lost", lost);
    value.querySelector("output").textContent = lost
      ? "beyond double precision" : `${values.length > 1 && first > 0 ? `${three(first)} → ` : ""}${three(now)} %`;
    value.querySelector("small").textContent = lost
      ? "the landmarks are too close together"
      : `of ${wholeName}${best == null ? "" : ` · ${three(now * whole / best / 100)} × the best possible`}`;

    const floor = best == null ? Infinity : best / whole;
    const top = known.length ? Math.max(...known) : 1, low = Math.min(...known, floor, top);
    const log = top > 20 * low;
    const high = log ? 10 ** Math.ceil(Math.log10(top)) : nice(top), least = log ? 10 ** Math.floor(Math.log10(low)) : 0;
    const y = v => log ? bottom - (bottom - 6) * Math.log(v / least) / Math.log(high / least) : bottom - (bottom - 6) * v / high;
    const span = Math.max(50, nice(Math.max(1, state.steps))), x = t => left + (right - left) * t / span;
    svg.replaceChildren();
    const decades = Math.round(Math.log10(high / least)), every = Math.ceil(decades / 4);
    const ticks = log ? Array.from({length: Math.floor(decades / every) + 1}, (_, i) => least * 10 ** (i * every)) : [0, high / 2, high];
    for (const tick of ticks) {
      element("path", {class: "pg-grid", d: `M${left} ${y(tick)}H${right}`}, svg);
      element("text", {x: left - 6, y: y(tick) + 4, "text-anchor": "end"}, svg, share(tick));
    }
    element("text", {x: left, y: height - 4}, svg, "0");
    element("text", {x: right, y: height - 4, "text-anchor": "end"}, svg, `${span.toLocaleString("en")} steps`);
    if (best != null) {
      element("path", {class: "pg-best", d: `M${left} ${y(floor)}H${right}`}, svg);
      const below = y(floor) + 13 < bottom;
      element("text", {x: right, y: y(floor) + (below ? 13 : -5), "text-anchor": "end"}, svg, "best possible");
    }
    const stride = Math.ceil(values.length / 400);
    let path = "", down = false;
    state.history.forEach(({t}, i) => {
      if (i % stride && i < values.length - 1) return;
      const seen = values[i] > 0;
      if (seen) path += `${down ? "L" : "M"}${x(t).toFixed(1)} ${y(values[i]).toFixed(1)}`;
      down = seen;
    });
    element("path", {class: "pg-curve", d: path}, svg);
    if (now > 0) element("circle", {class: "pg-now", cx: x(state.steps), cy: y(now), r: 4}, svg);
  }

  layer.addEventListener("focus", draw);
  layer.addEventListener("blur", draw);
  new ResizeObserver(draw).observe(plane);
  new MutationObserver(draw).observe(document.documentElement, {attributes: true, attributeFilter: ["data-theme"]});
  setFromAddress();
  reset();
  root.dataset.ready = "";
})();
