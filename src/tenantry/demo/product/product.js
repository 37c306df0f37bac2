// A product's own page: it knows its customers, asks its server for passes, and leaves the rest to the element.

const { dashboards } = document.body.dataset;
const menu = document.getElementById("customer");
const names = ["overview", "route", "delays"];

/** A customer's part of the page, made when it is first looked at; it stays, and with it what its viewer has chosen. */
class Customer {
  constructor({ value, text }) {
    this.id = value;
    this.name = text;
    this.element = document.getElementById("one").content.firstElementChild.cloneNode(true);
    this.element.querySelector("h1").textContent = text;
    this.button = this.element.querySelector(".access");
    this.button.addEventListener("click", () => this.change());
    this.frame = this.element.querySelector("tenantry-dashboard");
    this.frame.getToken = () => this.pass();
    this.frame.setAttribute("aria-label", `Dashboards of ${text}`);
    this.frame.setAttribute("src", dashboards);
    this.frame.addEventListener("ready", mark); // a click in it, or the way back, may have opened another one
    this.frame.addEventListener("ready", () => this.say(true));
    this.frame.addEventListener("error", ({ detail }) => detail.reason === "user_group_suspended" && this.say(false));
    this.say(true);
    document.getElementById("customers").append(this.element);
  }

  show(name) {
    if (this.frame.getAttribute("name") !== name) this.frame.setAttribute("name", name);
  }

  async pass() {
    const response = await fetch(`/customers/${this.id}/pass`, { method: "POST" });
    if (!response.ok) throw new Error(`no pass for ${this.name}`);
    return response.text();
  }

  async change() {
    const cut = this.access;
    await fetch(`/customers/${this.id}/access`, { method: cut ? "DELETE" : "PUT" });
    this.say(!cut);
    if (!cut) this.frame.reload();
  }

  say(access) {
    this.access = access;
    this.element.classList.toggle("cut-off", !access);
    this.element.querySelector(".status").textContent = access ? "" : "Cut off: it is suspended";
    this.button.textContent = access ? "Cut this customer off" : "Let it in again";
  }
}

const customers = new Map();

function customer(option) {
  if (!customers.has(option.value)) customers.set(option.value, new Customer(option));
  return customers.get(option.value);
}

function show() {
  const wanted = location.hash.slice(1);
  const name = names.includes(wanted) ? wanted : names[0];
  const chosen = [...menu.options].filter(({ value }) => value && (value === menu.value || !menu.value));
  for (const option of chosen) customer(option).show(name);
  const shown = new Set(chosen.map(({ value }) => value));
  for (const { id, element } of customers.values()) element.hidden = !shown.has(id);
  document.getElementById("customers").classList.toggle("side-by-side", shown.size > 1);
  mark();
}

/** The links say which dashboard is shown. */
function mark() {
  const shown = [...customers.values()].filter(({ element }) => !element.hidden).map(({ frame }) => `#${frame.getAttribute("name")}`);
  for (const link of document.querySelectorAll("nav a")) {
    if (shown.every((hash) => hash === link.hash)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

menu.addEventListener("change", show);
addEventListener("hashchange", show);
document.querySelector("nav").addEventListener("click", ({ target }) => target.hash === location.hash && show());
show();
