// The bundle of what opens below controls: a range of days, and several of some values.

import { choicesPicker } from "./choices_picker.js";
import { rangePicker } from "./range_picker.js";

/** By the kind of the control. */
export const make = { range: rangePicker, choices: choicesPicker };
