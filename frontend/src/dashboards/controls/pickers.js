// The bundle of the pickers: one for a range of days, and one for several values of a list.

import { choicesPicker } from "./choices_picker.js";
import { rangePicker } from "./range_picker.js";

/** Functions that make a picker, by the kind of the control. */
export const make = { range: rangePicker, choices: choicesPicker };
