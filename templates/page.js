"use strict";
// What the page does beyond showing: models on and off, tables sorted and filtered, values read off figures, links.
{
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (name, attributes = {}, text = "") => {
    const element = Object.assign(document.createElement(name), attributes);
    element.textContent = text;
    return element;
  };

  // Models on and off, by their ink, in every figure and in the tables that have a mark for each.
  const view = document.getElementById("view");
  const labels = {};
  if (view) {
    for (const box of all("input", view)) {
      labels[box.value] = box.parentElement.textContent.trim();
      box.addEventListener("change", () => document.documentElement.classList.toggle(`without-${box.value}`, !box.checked));
    }
    view.hidden = false;
  }

  // Tables: a button in each head sorts the rows of each group; long ones can be filtered.
  const amount = (cell) => {
    if (!cell) return NaN;
    const data = cell.querySelector("data"), text = cell.textContent.trim().replace("−", "-");
    if (data) return Number(data.value);
    return /^-?[\d,]+(\.\d+)?%?( |$)/.test(text) ? parseFloat(text.replaceAll(",", "")) : NaN;
  };
  const compare = (a, b, sign) => {
    const [x, y] = [amount(a), amount(b)];
    if (Number.isNaN(x) && Number.isNaN(y)) return sign * (a?.textContent ?? "").localeCompare(b?.textContent ?? "", "en");
    return Number.isNaN(x) - Number.isNaN(y) || sign * (x - y);
  };
  function sort(table, place, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    for (const body of table.tBodies) {
      const rows = all("tr:not(.group)", body);
      rows.sort((a, b) => compare(a.cells[place], b.cells[place], down ? -1 : 1));
      body.append(...rows);
    }
  }
  for (const table of all("main table")) {
    const rows = all("tbody tr:not(.group)", table), heads = table.tHead ? [...table.tHead.rows] : [];
    const plain = heads.length === 1 && all("[rowspan]", table).length === 0 && !table.matches(".confusion, .signatures, .files, .points table");
    if (!plain || rows.length < 4) continue;
    [...heads[0].cells].forEach((head, place) => {
      const button = make("button", { type: "button", className: "sort" }, head.textContent);
      button.addEventListener("click", () => sort(table, place, head));
      head.replaceChildren(button);
    });
    if (rows.length < 10) continue;
    const field = make("input", { type: "search", className: "filter", placeholder: "Filter rows" });
    field.setAttribute("aria-label", `Filter rows of ${table.caption ? table.caption.textContent.trim() : "the table"}`);
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      for (const body of table.tBodies) {
        const group = body.querySelector("tr.group");
        if (group) group.hidden = all("tr:not(.group)", body).every((row) => row.hidden);
      }
    });
    (table.closest(".scroll") || table).before(field);
  }

  // Every number has an address: section, table, row and column, as it stands without sorting.
  const home = (table) => table.closest("[id]");
  const cells = new Map();
  for (const table of all("main table")) {
    if (!home(table)) continue;
    const place = all("table", home(table)).indexOf(table) + 1;
    all("tbody tr", table).forEach((row, r) => {
      [...row.cells].forEach((cell, c) => {
        if (cell.querySelector("data")) cells.set(`${home(table).id}.${place}.${r + 1}.${c + 1}`, cell);
      });
    });
  }
  const said = make("p", { className: "copied", role: "status" });
  document.body.append(said);
  function copy(address) {
    try {
      history.replaceState(null, "", `#${address}`);
    } catch {
      return;  // in a frame without an address of its own, as in a notebook
    }
    const tell = (text) => { said.textContent = text; setTimeout(() => { said.textContent = ""; }, 2500); };
    const failed = () => tell("The link is in the address bar.");
    if (!navigator.clipboard) { failed(); return; }
    navigator.clipboard.writeText(location.href).then(() => tell("Link copied."), failed);
  }
  for (const [address, cell] of cells) {
    const link = make("a", { className: "here", href: `#${address}`, tabIndex: -1, title: "Copy the link" }, "#");
    link.setAttribute("aria-label", "Copy the link to this number");
    link.addEventListener("click", (event) => { event.preventDefault(); copy(address); });
    cell.append(link);
  }
  for (const link of all("figcaption a.here")) {
    link.addEventListener("click", (event) => { event.preventDefault(); copy(link.hash.slice(1)); });
  }
  function show() {
    for (const cell of all(".pointed")) cell.classList.remove("pointed");
    const cell = cells.get(decodeURIComponent(location.hash.slice(1)));
    if (!cell) return;
    for (let fold = cell.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    cell.classList.add("pointed");
    cell.scrollIntoView({ block: "center" });
  }
  window.addEventListener("hashchange", show);
  show();

  // What the lines of a figure are at the pointer, from their paths and the axes of the panel.
  const box = make("div", { className: "read-out", hidden: true });
  box.setAttribute("aria-hidden", "true");
  document.body.append(box);
  const short = (v) => String(Number(v.toPrecision(3))).replace("-", "−");
  const lines = new WeakMap();
  const linesOf = (chart) => {
    if (!lines.has(chart)) {
      lines.set(chart, all("path.line", chart).map((path) => ({
        ink: [...path.classList].find((name) => /^m\d$/.test(name)), path,
        points: [...path.getAttribute("d").matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]),
      })).filter((line) => line.ink));
    }
    return lines.get(chart);
  };
  const height = (points, x) => {
    for (let k = 1; k < points.length; k += 1) {
      const [[a, b], [c, d]] = [points[k - 1], points[k]];
      if ((a - x) * (c - x) <= 0 && a !== c) return b + (d - b) * (x - a) / (c - a);
    }
    return null;
  };
  function read(chart, event) {
    const frame = chart.getBoundingClientRect(), scale = chart.viewBox.baseVal.width / frame.width;
    const x = (event.clientX - frame.left) * scale, y = (event.clientY - frame.top) * scale;
    const panel = JSON.parse(chart.dataset.axes).find(
      ([left, top, wide, high]) => x >= left && x <= left + wide && y >= top && y <= top + high);
    if (!panel) return null;
    const [left, top, wide, high, low, up, bottom, above, name] = panel;
    const rows = linesOf(chart).map(({ ink, path, points }) => {
      const inside = points.some(([, b]) => b >= top - 1 && b <= top + high + 1) && getComputedStyle(path).display !== "none";
      const at = inside ? height(points, x) : null;
      return at === null || at < top - 1 || at > top + high + 1 ? null
        : `${labels[ink] ?? "Value"}: ${short(above - (at - top) / high * (above - bottom))}`;
    }).filter(Boolean);
    return [`${name || "x"} ${short(low + (x - left) / wide * (up - low))}`, ...new Set(rows)];
  }
  for (const chart of all(".chart[data-axes]")) {
    chart.addEventListener("pointermove", (event) => {
      const rows = read(chart, event);
      box.hidden = !rows || rows.length < 2;
      if (box.hidden) return;
      box.replaceChildren(...rows.map((row) => make("div", {}, row)));
      box.style.left = `${Math.min(event.pageX + 14, window.scrollX + document.documentElement.clientWidth - box.offsetWidth - 4)}px`;
      box.style.top = `${event.pageY + 14}px`;
    });
    chart.addEventListener("pointerleave", () => { box.hidden = true; });
  }
}
