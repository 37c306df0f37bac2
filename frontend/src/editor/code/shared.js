// What the bundle of differences takes from this bundle, because two copies of CodeMirror would not work together.

import { highlightingFor, language } from "@codemirror/language";
import { ChangeSet, Compartment, EditorSelection, EditorState, Facet, Prec, RangeSet, RangeSetBuilder, StateEffect, StateField, Text } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, ViewPlugin, WidgetType, gutter, lineNumbers } from "@codemirror/view";
import { highlightTree } from "@lezer/highlight";
import { StyleModule } from "style-mod";

import { look } from "./colors.js";
import { sql, yaml } from "./languages.js";

export const shared = {
  state: { ChangeSet, Compartment, EditorSelection, EditorState, Facet, Prec, RangeSet, RangeSetBuilder, StateEffect, StateField, Text },
  view: { Decoration, EditorView, GutterMarker, ViewPlugin, WidgetType, gutter, lineNumbers },
  language: { highlightingFor, language },
  highlight: { highlightTree },
  style: { StyleModule },
  look,
  sql,
  yaml,
};
