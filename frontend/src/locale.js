// Makes the number and time locales of d3, which Vega uses, from a BCP 47 language tag. The texts come from Intl.

const SUNDAY = Date.UTC(2023, 0, 1);
const DAY = 86_400_000;

function part(parts, type, otherwise) {
  return parts.find((each) => each.type === type)?.value ?? otherwise;
}

export function numbers(tag, currency) {
  const parts = new Intl.NumberFormat(tag, { minimumFractionDigits: 1, useGrouping: "always" }).formatToParts(1234567.8);
  return {
    decimal: part(parts, "decimal", "."),
    thousands: part(parts, "group", ","),
    grouping: [3],
    currency: currency ? around(tag, currency) : ["", ""],
  };
}

/** The text before and the text after an amount of money. */
function around(tag, currency) {
  const money = new Intl.NumberFormat(tag, { style: "currency", currency }).formatToParts(1);
  const symbol = part(money, "currency", currency);
  const before = money.findIndex((each) => each.type === "currency") < money.findIndex((each) => each.type === "integer");
  return before ? [symbol, ""] : ["", ` ${symbol}`];
}

export function times(tag) {
  const name = (options) => (time) => new Intl.DateTimeFormat(tag, { ...options, timeZone: "UTC" }).format(time);
  const days = Array.from({ length: 7 }, (_, index) => SUNDAY + index * DAY);
  const months = Array.from({ length: 12 }, (_, index) => Date.UTC(2023, index, 15));
  return {
    dateTime: "%x, %X",
    date: "%-d %b %Y",
    time: "%H:%M:%S",
    periods: ["AM", "PM"],
    days: days.map(name({ weekday: "long" })),
    shortDays: days.map(name({ weekday: "short" })),
    months: months.map(name({ month: "long" })),
    shortMonths: months.map(name({ month: "short" })),
  };
}
