"use strict";
// Sorting and filtering of every table, and verdicts to choose claims by. Without it the page reads the same.

function key(cell) {
  const text = (cell.dataset.key ?? cell.textContent).trim();
  const number = text.replaceAll("\u2212", "-").replaceAll(",", "").match(/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?/);
  return { text, number: number ? Number(number[0]) : null };
}

// Numbers before words, blanks last whichever way.
function compare(a, b, direction) {
  if (!a.text || !b.text) return (a.text ? 0 : 1) - (b.text ? 0 : 1);
  if (a.number !== null && b.number !== null) return direction * (a.number - b.number || a.text.localeCompare(b.text, "en"));
  if (a.number !== null || b.number !== null) return direction * ((a.number === null) - (b.number === null));
  return direction * a.text.localeCompare(b.text, "en");
}

function sortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    if ("fixed" in head.dataset) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
      heads.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", next);
      const direction = next === "descending" ? -1 : 1;
      const keyed = original.map((row) => [key(row.cells[column]), row]);
      const rows = next === "none" ? original : keyed.sort((a, b) => compare(a[0], b[0], direction)).map((pair) => pair[1]);
      body.append(...rows);
    });
  });
}

// A row is shown where it has all words, and is of the chosen verdict where one is chosen.
function filterable(box) {
  const table = box.querySelector("table");
  const rows = [...table.tBodies[0].rows];
  let texts = null; // of the rows, read when the first word comes
  const tools = document.createElement("p");
  tools.className = "tools";
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "search";
  label.append("Filter rows ", input);
  const count = document.createElement("span");
  count.className = "small";
  count.setAttribute("role", "status");
  tools.append(label, count);
  box.prepend(tools);

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) texts ??= rows.map((row) => row.textContent.toLowerCase());
    let shown = 0;
    rows.forEach((row, n) => {
      row.hidden = !words.every((word) => texts[n].includes(word)) || (box.dataset.verdict && row.dataset.verdict !== box.dataset.verdict);
      shown += !row.hidden;
    });
    count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
  }
  input.addEventListener("input", show);
  box.addEventListener("verdict", show);
  count.textContent = `${rows.length} rows`;
}

for (const box of document.querySelectorAll(".sortable")) {
  sortable(box.querySelector("table"));
  filterable(box);
}

const verdicts = [...document.querySelectorAll("button[data-verdict]")];
for (const button of verdicts) {
  button.addEventListener("click", () => {
    const chosen = button.getAttribute("aria-pressed") !== "true";
    verdicts.forEach((other) => other.setAttribute("aria-pressed", String(chosen && other === button)));
    const box = document.querySelector("#part-claims .sortable");
    box.dataset.verdict = chosen ? button.dataset.verdict : "";
    box.dispatchEvent(new Event("verdict"));
  });
}

// On paper nothing can be opened.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
addEventListener("afterprint", () => document.querySelectorAll("details").forEach((one) => { one.open = false; }));
