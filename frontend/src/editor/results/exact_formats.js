// Writes values for authors of SQL: with all digits, and with a difference between NULL and an empty string.

import { isNumeric } from "../../dashboards/numbers.js";
import { Formats } from "../../dashboards/values.js";

export class ExactFormats extends Formats {
  text(value, way = {}) {
    if (value === null || value === undefined) return "NULL";
    return isNumeric(way.type) && !way.format ? this.whole(value, { ...way, digits: 0 }) : super.text(value, way);
  }
}
