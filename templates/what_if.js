"use strict";
// The sliders of the card: counts at a threshold, measures of classes at a prevalence, and their limits.
const $ = (id) => document.getElementById(id), data = JSON.parse($("what-if-data").textContent);

// Stirling's series, shifted upwards where it is not yet exact: Abramowitz & Stegun (1964), 6.1.41.
function logGamma(x) {
  let shift = 0;
  for (; x < 15; x += 1) shift += Math.log(x);
  const r = 1 / (x * x);
  const series = 1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * 691 / 360360))));
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series / x - shift;
}

// Lentz's continued fraction of the incomplete beta function: Press et al. (1992), section 6.4.
function fraction(a, b, x) {
  const keep = (v) => (Math.abs(v) < 1e-300 ? 1e-300 : v);
  let c = 1, d = 1 / keep(1 - (a + b) * x / (a + 1)), h = d;
  for (let m = 1; m < 100000; m += 1) {
    const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / keep(1 + even * d); c = keep(1 + even / c); h *= d * c;
    const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / keep(1 + odd * d); c = keep(1 + odd / c);
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return h;
}

function beta(a, b, x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a : 1 - front * fraction(b, a, 1 - x) / b;
}

function betaQuantile(a, b, p) {
  let low = 0, high = 1;
  for (let k = 0; k < 200 && high - low > 1e-15 * high; k += 1) {
    const middle = (low + high) / 2;
    if (beta(a, b, middle) < p) low = middle; else high = middle;
  }
  return (low + high) / 2;
}

// Clopper & Pearson (1934).
function proportion(x, n) {
  const tail = (1 - data.level) / 2;
  return n > 0 ? {
    value: x / n, lower: x > 0 ? betaQuantile(x, n - x + 1, tail) : 0,
    upper: x < n ? betaQuantile(x + 1, n - x, 1 - tail) : 1,
  } : null;
}

// The delta method on the logit: Mercaldo, Lau & Zhou (2007).
function predictive(value, first, second, n) {
  if (!(value > 0 && value < 1 && first > 0 && first < 1 && second > 0 && second < 1)) return { value };
  const reach = data.z * Math.sqrt((1 - first) / (first * n.events) + second / ((1 - second) * n.others));
  const centre = Math.log(value / (1 - value));
  return { value, lower: 1 / (1 + Math.exp(reach - centre)), upper: 1 / (1 + Math.exp(-reach - centre)) };
}

// A sum of sensitivity and specificity, each times a factor: the delta method is exact in its error.
function combined(value, factors, shares, n) {
  const terms = [[factors[0], shares[0], n.events], [factors[1], shares[1], n.others]].filter(([f]) => f !== 0);
  if (!terms.length || terms.some(([, s]) => !(s > 0 && s < 1))) return { value };
  const reach = data.z * Math.sqrt(terms.reduce((sum, [f, s, m]) => sum + f * f * s * (1 - s) / m, 0));
  return { value, lower: value - reach, upper: value + reach };
}

// Bayes' theorem: both predictive values at prevalence q.
function predictiveValues(se, sp, q) {
  return { ppv: se * q / (se * q + (1 - sp) * (1 - q)), npv: sp * (1 - q) / (sp * (1 - q) + (1 - se) * q) };
}

function measures(hits, alarms, n, prevalence, threshold) {
  const tp = hits, fp = alarms, fn = n.events - tp, tn = n.others - fp, q = prevalence;
  const se = tp / n.events, sp = tn / n.others;
  const result = { tp: { value: tp }, fn: { value: fn }, fp: { value: fp }, tn: { value: tn } };
  result.sensitivity = proportion(tp, n.events);
  result.specificity = proportion(tn, n.others);
  if (!(n.events > 0 && n.others > 0)) return result;
  const { ppv, npv } = predictiveValues(se, sp, q);
  result.ppv = predictive(ppv, se, sp, n);
  result.npv = predictive(npv, 1 - se, 1 - sp, n);
  if (threshold < 1) {
    const odds = threshold / (1 - threshold);
    result.net_benefit = combined(q * se - (1 - q) * odds * (1 - sp), [q, (1 - q) * odds], [se, sp], n);
  }
  if (data.costs) {
    const [[hit, miss], [alarm, pass]] = data.costs;
    const value = q * (se * hit + (1 - se) * miss) + (1 - q) * ((1 - sp) * alarm + sp * pass);
    result.cost = combined(value, [q * (hit - miss), (1 - q) * (pass - alarm)], [se, sp], n);
  }
  return result;
}

// Digits as on the whole card: as many as the width of the interval supports.
const magnitude = (v) => (v ? Math.floor(Math.log10(Math.abs(v))) : 0);
const significant = (v, digits) => Math.max(digits - 1 - magnitude(v), 0);
const minus = (text) => (/^-[0.,]*$/.test(text) ? text.slice(1) : text.replace("-", "−"));

// Rounds an exact tie to the even digit, as the card does; toFixed alone rounds it up.
function rounded(v, places) {
  const scaled = Math.abs(v) * 10 ** places, below = Math.floor(scaled);
  const tied = scaled - below === 0.5 && Number.isInteger(v * 2 ** (places + 1));
  return (tied && below % 2 === 0 ? Math.sign(v) * below / 10 ** places : v).toFixed(places);
}

const fixed = (v, places) => minus(rounded(v, places).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ","));

function decimals(m) {
  if (m.lower === undefined || m.lower === m.upper) {
    return Math.min(Math.abs(m.value) < 10 ? Math.max(significant(m.value, 3), 3) : significant(m.value, 3), 6);
  }
  const half = (m.upper - m.lower) / 2, sure = significant(half, half >= 2 * 10 ** magnitude(half) ? 1 : 2);
  const reads = (v, edge, places) => rounded(Math.abs(v), places) === edge.toFixed(places) && Math.abs(v) !== edge;
  for (let places = Math.min(sure, 6); places <= 6; places += 1) {
    const blurred = reads(m.value, 0, places) || reads(m.value, 1, places);
    if (!blurred && ![m.lower, m.upper].some((limit) => limit < 0 && reads(limit, 0, places))) return places;
  }
  return Math.min(sure, 6);
}

function write(cell, m, whole) {
  const shown = cell.firstElementChild;
  const known = m && Number.isFinite(m.value), limited = known && data.limited && m.lower !== undefined;
  for (const name of ["value", "lower", "upper"]) {
    if (known && Number.isFinite(m[name]) && (name === "value" || limited)) cell.dataset[name] = m[name];
    else delete cell.dataset[name];
  }
  cell.title = known ? String(m.value) : "";
  if (!known) { shown.textContent = "–"; return; }
  if (whole) { shown.textContent = m.value.toLocaleString("en-US"); return; }
  const places = decimals(limited ? m : { value: m.value });
  const range = limited && [fixed(m.lower, places), fixed(m.upper, places)];
  const between = range && range.some((text) => text.startsWith("−")) ? " to " : "–";
  shown.textContent = fixed(m.value, places);
  if (range) {
    const limits = document.createElement("span");
    limits.className = "interval"; limits.textContent = ` (${range.join(between)})`;
    shown.append(limits);
  }
}

const tool = $("what-if"), group = $("what-if-group"), at = $("what-if-threshold"), share = $("what-if-prevalence");
const bars = document.querySelector(".thousand"), drawn = bars && bars.innerHTML;
let moved = false, touched = false;

// What the sliders move in figures: a line at the prevalence or the threshold, and the lines of predictive values.
const axis = { Prevalence: "prevalence", "Threshold probability": "threshold" };
const shares = Array.from({ length: 101 }, (_, k) => k / 100);
const points = (d) => [...d.matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
const panels = [...document.querySelectorAll("figure[data-key] .chart[data-axes]")].flatMap((chart) => {
  const key = chart.closest("figure").dataset.key, charts = [...chart.closest("figure").querySelectorAll(".chart")];
  const value = key.endsWith("-predictive") ? ["ppv", "npv"][charts.indexOf(chart)] : undefined;
  if (!value && !key.endsWith("-net-benefit")) return [];
  return JSON.parse(chart.dataset.axes).filter((panel) => axis[panel[8]]).map((panel) => {
    const [left, top, wide, high, low, up, bottom, above, name] = panel;
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [at, v] of [["class", "thin ink"], ["stroke-dasharray", "7 2 1 2"], ["y1", top], ["y2", top + high]]) line.setAttribute(at, v);
    line.style.display = "none";
    chart.append(line);
    const paths = value ? [...chart.querySelectorAll("path.line")].map((path) => [path, path.getAttribute("d")]) : [];
    const inside = ([, d]) => points(d).slice(0, 1).every(([x, y]) => x >= left - 1 && x <= left + wide + 1 && y >= top - 1 && y <= top + high + 1);
    return {
      place: Number(key.match(/^d(\d+)-/)[1]), name: axis[name], line, value, bands: value ? [...chart.querySelectorAll(".band")] : [],
      paths: paths.filter(inside), x: (v) => left + wide * (v - low) / (up - low),
      y: (v) => top + high * (above - v) / (above - bottom), shows: (v) => v >= low && v <= up,
    };
  });
});

function draw(scope, place, n, setting) {
  for (const panel of panels) {
    const here = touched && panel.place === data.datasets[scope.dataset].place;
    panel.line.style.display = here && panel.shows(setting[panel.name]) ? "" : "none";
    for (const end of ["x1", "x2"]) panel.line.setAttribute(end, panel.x(setting[panel.name]));
    for (const band of panel.bands) band.style.display = here ? "none" : "";
    for (const [path, d] of panel.paths) {
      const row = [...tool.querySelectorAll("tbody tr")].find((each) => path.classList.contains(each.querySelector(".look").classList[1]));
      const counts = row && scope.models[row.dataset.model];
      const heights = here && counts && n.events > 0 && n.others > 0 ? shares.map((q) => {
        const values = predictiveValues(counts[0][place] / n.events, 1 - counts[1][place] / n.others, q);
        return [panel.x(q), panel.y(values[panel.value])];
      }).filter(([, y]) => Number.isFinite(y)) : [];
      path.setAttribute("d", heights.length ? `M${heights.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}` : d);
    }
  }
}

function update() {
  const scope = data.groups[group.value], table = data.datasets[scope.dataset];
  at.max = table.thresholds.length - 1;
  const place = Number(at.value), threshold = table.thresholds[place];
  const n = scope.n, own = data.declared ?? n.events / (n.events + n.others);
  const prevalence = moved ? Number(share.value) / 1000 : own;
  if (!moved) share.value = Math.round(1000 * own);
  $("what-if-at").textContent = String(threshold);
  $("what-if-share").textContent = moved ? String(prevalence) : scope.prevalence;
  at.setAttribute("aria-valuetext", String(threshold));
  share.setAttribute("aria-valuetext", $("what-if-share").textContent);
  for (const row of tool.querySelectorAll("tbody tr")) {
    const counts = scope.models[row.dataset.model];
    const result = counts ? measures(counts[0][place], counts[1][place], n, prevalence, threshold) : {};
    for (const cell of row.querySelectorAll("td")) write(cell, result[cell.dataset.measure], "whole" in cell.dataset);
  }
  draw(scope, place, n, { prevalence, threshold });
  if (bars && touched) {
    const rows = data.groups.length > 1 ? `${group.selectedOptions[0].text}, ` : "";
    bars.caption.lastElementChild.textContent =
      `${rows}at threshold ${threshold}, if ${Math.round(1000 * prevalence)} in 1,000 are ${bars.dataset.events}`;
    for (const bar of bars.rows) cut(bar, scope.models[data.models[bar.dataset.model]], place, n, prevalence);
  }
}

// Cuts the bar of a model at what a thousand rows come to: whole numbers by largest remainder.
function cut(bar, counts, place, n, prevalence) {
  bar.hidden = !counts || !(n.events > 0 && n.others > 0);
  if (bar.hidden) return;
  const hit = counts[0][place] / n.events, alarm = counts[1][place] / n.others;
  const shares = [hit * prevalence, (1 - hit) * prevalence, alarm * (1 - prevalence), (1 - alarm) * (1 - prevalence)];
  const whole = shares.map((share) => Math.floor(1000 * share + 1e-9));
  const order = shares.map((share, i) => [1000 * share - whole[i], i]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const missing = 1000 - whole.reduce((sum, count) => sum + count, 0);
  for (const [, i] of order.slice(0, missing)) whole[i] += 1;
  let start = 0;
  ["found", "missed", "alarms", "left"].forEach((kind, i) => {
    const part = bar.querySelector(`.bar .${kind}`);
    part.setAttribute("x", `${start / 10}%`); part.setAttribute("width", `${whole[i] / 10}%`);
    bar.querySelector(`[data-part=${kind}]`).textContent = String(whole[i]);
    start += whole[i];
  });
}

function reset() {
  moved = touched = false;
  if (bars) bars.innerHTML = drawn;
  at.value = data.datasets[data.groups[group.value].dataset].start;
  update();
}

share.addEventListener("input", () => { moved = touched = true; update(); });
for (const [control, event] of [[at, "input"], [group, "change"]]) {
  control.addEventListener(event, () => { touched = true; update(); });
}
$("what-if-reset").addEventListener("click", reset);
tool.hidden = false;
reset();
