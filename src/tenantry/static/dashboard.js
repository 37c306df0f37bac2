// What a dashboard page does beyond its HTML: numbers, money and dates in the group's language, and tables that sort.
// Everything is readable without it.

const root = document.documentElement;
const tag = root.dataset.locale || root.lang;
const currency = root.dataset.currency || "USD";

const decimal = (digits) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits });
const FORMATS = {
  integer: decimal(0),
  decimal: decimal(1),
  percent: { style: "percent", ...decimal(1) },
  money: { style: "currency", currency, ...decimal(0) },
};
const DATE = { year: "numeric", month: "long", day: "numeric", timeZone: "UTC" };

function speak() {
  for (const element of document.querySelectorAll("data[data-format]")) {
    const text = new Intl.NumberFormat(tag, FORMATS[element.dataset.format]).format(Number(element.value));
    if (element.textContent !== text) element.textContent = text;
  }
  const dates = new Intl.DateTimeFormat(tag, DATE);
  for (const element of document.querySelectorAll("time[datetime]")) {
    element.textContent = dates.format(new Date(`${element.dateTime}T00:00:00Z`));
  }
}

function key(row, column) {
  const cell = row.cells[column];
  const value = cell.querySelector("data")?.value;
  return value === undefined ? cell.textContent.trim() : Number(value);
}

function compare(one, other) {
  return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), tag);
}

function sort(table, column, heading) {
  const numeric = heading.classList.contains("number");
  const before = heading.getAttribute("aria-sort");
  const descending = before ? before === "ascending" : numeric;
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: key(row, column) }));
  rows.sort((a, b) => (descending ? compare(b.key, a.key) : compare(a.key, b.key)));
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  table.tBodies[0].append(...rows.map((each) => each.row));
}

function sortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(table, column, heading));
    heading.append(button);
  });
}

speak();
document.querySelectorAll("table.sortable").forEach(sortable);
