// Works on the finished page only: it filters, moves the focus, and shows what the page already contains.
const byId = (id) => document.getElementById(id);
const search = byId("search");
const subject = byId("subject");
const outcome = byId("outcome");
// Absent without a base.
const changed = byId("changed");
const count = byId("count");
const dialog = byId("cell");
const matrices = [...document.querySelectorAll(".matrix")].map((section) => {
  const table = section.querySelector("table");
  const columns = [...table.tHead.rows[0].cells].slice(1);
  const rows = [...table.tBodies[0].rows].map((row) => ({
    row,
    cells: [...row.cells].slice(1),
    text: row.cells[0].textContent.toLowerCase(),
  }));
  return { section, columns, rows, text: section.querySelector("h3").textContent.toLowerCase() };
});
const overview = [...document.querySelectorAll(".overview tbody tr")];
const others = [...document.querySelectorAll(".entry")].map((element) => ({
  element,
  text: element.textContent.toLowerCase(),
}));

const lists = [...document.querySelectorAll(".entries")];

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.includes(word));
  let shown = 0;
  for (const [index, { section, columns, rows, text }] of matrices.entries()) {
    const isNamed = words.length > 0 && has(text);
    const isChanged = (cell) => cell.classList.contains("changed");
    const seen = columns.map(
      ({ dataset }, at) =>
        (subject.value === "" || dataset.key === subject.value) &&
        (!changed?.checked || rows.some(({ cells }) => isChanged(cells[at]))),
    );
    let own = 0;
    for (const { row, cells, text: name } of rows) {
      const isFound = isNamed || has(`${text} ${name}`);
      const isOfOutcome = cells.some(
        (cell, at) =>
          seen[at] &&
          (outcome.value === "" || cell.classList.contains(outcome.value)) &&
          (!changed?.checked || isChanged(cell)),
      );
      row.hidden = !isFound || !isOfOutcome;
      if (!row.hidden) own += 1;
    }
    section.hidden = own === 0 || !seen.includes(true);
    overview[index].hidden = section.hidden;
    if (section.hidden) continue;
    shown += own;
    columns.forEach((column, at) => {
      if (column.hidden === !seen[at]) return;
      column.hidden = !seen[at];
      for (const { cells } of rows) cells[at].hidden = !seen[at];
    });
  }
  for (const { element, text } of others) element.hidden = !has(text);
  for (const list of lists) {
    const isEmpty = [...list.children].every((entry) => entry.hidden);
    list.closest("section").hidden = isEmpty && list.children.length > 0;
  }
  const isFiltered =
    words.length > 0 || subject.value !== "" || outcome.value !== "" || changed?.checked === true;
  count.textContent = isFiltered ? `${shown} rows` : "";
}

/** Only one cell of a table is a tab stop; arrow keys move within the table. */
function linksOf(table) {
  return [...table.querySelectorAll("tbody td a")];
}
for (const { section } of matrices)
  for (const [index, link] of linksOf(section).entries()) link.tabIndex = index === 0 ? 0 : -1;

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function move(event) {
  const cell = event.target.closest?.(".matrix td");
  const step = STEPS[event.key];
  if (!cell || !step) return;
  const rows = [...cell.closest("tbody").rows].filter((row) => !row.hidden);
  const columns = [...cell.parentElement.cells].filter((each) => !each.hidden);
  const row = rows[rows.indexOf(cell.parentElement) + step[0]];
  const index = columns[columns.indexOf(cell) + step[1]]?.cellIndex;
  const next = row?.cells[index]?.querySelector("a");
  if (!next) return;
  event.preventDefault();
  cell.querySelector("a").tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function add(list, name, ...texts) {
  if (texts.length === 0) return;
  const term = document.createElement("dt");
  term.textContent = name;
  list.append(term);
  for (const text of texts) {
    const value = document.createElement("dd");
    value.className = "code";
    value.textContent = text;
    list.append(value);
  }
}

function show(event) {
  // The whole cell is the link, whose text may be a part of it.
  const link = event.target.closest?.(".matrix td")?.querySelector("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const cell = link.parentElement;
  const row = cell.parentElement;
  const column = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
  const decision = byId(link.hash.slice(1));
  byId("cell-title").textContent = `${row.cells[0].textContent.trim()}: ${link.textContent}`;
  const list = byId("cell-list");
  list.replaceChildren();
  add(list, "callers", column.dataset.who);
  if (cell.dataset.was !== undefined) add(list, "before", cell.dataset.was);
  add(list, "decided by", decision.querySelector(".rule").textContent);
  for (const term of decision.querySelectorAll("dt")) {
    // The decision names the first request that it was executed for; this cell has its own.
    const { executed } = term.dataset;
    if (executed !== undefined) {
      const own = [row.dataset.request, column.dataset.as].filter(Boolean).join("  ");
      add(list, term.textContent, `${own}: ${executed}`);
      continue;
    }
    const values = [];
    for (let next = term.nextElementSibling; next?.tagName === "DD"; next = next.nextElementSibling)
      values.push(next.textContent);
    add(list, term.textContent, ...values);
  }
  if (row.dataset.can)
    add(
      list,
      "repeat with",
      ["gwc can", row.dataset.can, column.dataset.can].filter(Boolean).join(" "),
    );
  const rule = byId("cell-rule");
  rule.href = link.hash;
  dialog.showModal();
}

function shortcut(event) {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !isTyping && !dialog.open) {
    event.preventDefault();
    search.focus();
  }
}

search.addEventListener("input", filter);
subject.addEventListener("change", filter);
outcome.addEventListener("change", filter);
changed?.addEventListener("change", filter);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").hidden = false;
byId("cell-rule").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
document.addEventListener("click", show);
document.addEventListener("keydown", move);
document.addEventListener("keydown", shortcut);
