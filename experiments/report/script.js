"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const { trials, notes } = JSON.parse(byId("details").textContent);

  // Of many places only one takes part in the order of Tab; arrow keys move between them.
  const focusable = (items) => {
    for (const item of items) item.tabIndex = -1;
    if (items.length) items[0].tabIndex = 0;
  };
  const move = (from, to) => {
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };

  // A trial that is looked at: its words and policy, as text.
  const pretty = (policy) => {
    try { return JSON.stringify(JSON.parse(policy), null, 2); } catch { return policy; }
  };
  const look = (number) => {
    const [trial, panel] = [trials[number], byId("spot")];
    if (trial && panel) panel.textContent = `${trial.name}: ${trial.words}\n${trial.policy}`;
  };
  const keep = (number) => {
    const b = byId("b");
    if (b && trials[number]) { b.value = number; compare(); }
    look(number);
  };
  for (const spot of document.querySelectorAll("[data-trial]")) {
    const number = spot.dataset.trial;
    spot.addEventListener("mouseenter", () => look(number));
    spot.addEventListener("focus", () => look(number));
    spot.addEventListener("click", () => keep(number));
  }
  const spots = [...document.querySelectorAll(".spot")].sort((p, q) => p.dataset.x - q.dataset.x);
  focusable(spots);
  spots.forEach((spot, place) => spot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) move(spot, spots[place + step]);
    else if (event.key === "Enter" || event.key === " ") keep(spot.dataset.trial);
    else return;
    event.preventDefault();
  }));

  // The strip: one panel says of each cell what decides it, and why.
  const strip = byId("strip");
  if (strip) {
    const [body, names] = [strip.tBodies[0], strip.tHead.rows[0].cells];
    const explain = (cell) => {
      const layer = cell.parentNode.cells[0].textContent;
      byId("cell").textContent = `${layer}, ${names[cell.cellIndex].textContent}: ${notes[cell.dataset.note]}`;
    };
    strip.setAttribute("role", "grid");
    focusable([...body.querySelectorAll("td")]);
    const over = (event) => { const cell = event.target.closest("td"); if (cell) explain(cell); };
    body.addEventListener("mouseover", over);
    body.addEventListener("focusin", over);
    body.addEventListener("click", over);
    body.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td");
      const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
      if (!cell || down === undefined) return;
      event.preventDefault();
      const to = body.rows[cell.parentNode.sectionRowIndex + down]?.cells[cell.cellIndex + right];
      if (to?.tagName === "TD") move(cell, to);
    });
  }

  const cell = (row, text, kind = "td") => {
    const made = document.createElement(kind);
    made.textContent = text;
    row.append(made);
  };
  const tableOf = (rows) => {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const text of ["layer", "A", "B"]) { cell(head, text, "th"); head.lastChild.scope = "col"; }
    const body = table.createTBody();
    for (const [layer, a, b] of rows) {
      const row = body.insertRow();
      cell(row, layer, "th");
      row.firstChild.scope = "row";
      cell(row, a);
      cell(row, b);
    }
    const wide = document.createElement("div");
    wide.className = "wide tall";
    wide.tabIndex = 0;
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", "Layers that differ, table");
    wide.append(table);
    return wide;
  };
  const differences = (a, b) => {
    const box = byId("differences");
    const note = document.createElement("p");
    box.replaceChildren(note);
    if (!a.layers || !b.layers) {
      note.textContent = "Layer by layer only the chosen policy, the front and the named levels can be compared here: halfwise diff compares any two.";
      return;
    }
    const paths = [...new Set([...Object.keys(a.layers), ...Object.keys(b.layers)])];
    const changed = paths.filter((path) => a.layers[path] !== b.layers[path]);
    note.textContent = `${changed.length} of ${paths.length} layers compute in another precision, as asked.`;
    const words = (side, path) => side.layers[path] ?? "not there";
    if (changed.length) box.append(tableOf(changed.map((path) => [path || "(the network itself)", words(a, path), words(b, path)])));
  };
  function compare() {
    const sides = ["a", "b"].map((side) => [side, trials[byId(side).value]]);
    for (const [side, trial] of sides) {
      byId(`${side}-name`).textContent = trial.name;
      byId(`${side}-words`).textContent = trial.words;
      byId(`${side}-policy`).textContent = pretty(trial.policy);
    }
    differences(sides[0][1], sides[1][1]);
  }
  if (byId("a")) {
    byId("a").addEventListener("change", compare);
    byId("b").addEventListener("change", compare);
    compare();
  }

  // On paper nothing can be opened any more.
  addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details")) each.open = true; });

  const table = byId("table");
  if (!table) return;
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const valueOf = (row, column) => {
    const found = row.cells[column];
    const value = found.dataset.value;
    return value === undefined ? found.textContent : value === "" ? null : Number(value);
  };
  headings.forEach((heading, column) => heading.querySelector("button").addEventListener("click", () => {
    const falling = heading.getAttribute("aria-sort") === "ascending";
    headings.forEach((each) => each.setAttribute("aria-sort", "none"));
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const order = (x, y) => (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
    // What has no figure stands last whichever way it is sorted.
    const sorted = [...body.rows].sort((p, q) => {
      const [x, y] = [valueOf(p, column), valueOf(q, column)];
      if (x === null || y === null) return (x === null) - (y === null);
      return falling ? order(y, x) : order(x, y);
    });
    body.append(...sorted);
  }));
  const filter = () => {
    const [text, status] = [byId("filter").value.toLowerCase(), byId("status").value];
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = !(row.textContent.toLowerCase().includes(text) && (!status || row.dataset.status === status));
      shown += !row.hidden;
    }
    byId("count").textContent = `${shown} of ${body.rows.length} trials`;
  };
  byId("filter").addEventListener("input", filter);
  byId("status").addEventListener("change", filter);
  filter();
})();
