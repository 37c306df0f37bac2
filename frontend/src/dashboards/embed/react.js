/**
 * <Dashboard> for React 18 and 19: renders <tenantry-dashboard>. React 18 cannot pass functions to custom elements, and
 * React 19 treats properties that begin with "on" as events, so this component sets them itself. Copy this file into
 * your app, or import it from the server of the dashboards.
 */

import { createElement, useEffect, useRef } from "react";

const EVENTS = ["ready", "height", "filters", "error", "click"];

/**
 * @param {object} props
 * @param {string} props.src  the address where the dashboards are mounted
 * @param {string} props.name  the name of the dashboard
 * @param {() => Promise<string>} props.getToken
 * @param {object} [props.filters]  sets all choices at the start, and again when the value changes; if omitted, the viewer chooses
 * @param {object} [props.theme]  the group's theme applies to each key that is missing
 * @param {(event: CustomEvent) => void} [props.onReady]  likewise onHeight, onFilters, onError, onClick
 */
export function Dashboard({ src, name, getToken, filters, theme, onReady, onHeight, onFilters, onError, onClick, ...rest }) {
  const element = useRef(null);
  const listeners = useRef({});
  listeners.current = { ready: onReady, height: onHeight, filters: onFilters, error: onError, click: onClick };
  useEffect(() => {
    const own = element.current;
    const call = (event) => event instanceof CustomEvent && listeners.current[event.type]?.(event); // ignore a MouseEvent
    for (const type of EVENTS) own.addEventListener(type, call);
    return () => EVENTS.forEach((type) => own.removeEventListener(type, call));
  }, []);
  useEffect(() => {
    element.current.getToken = getToken; // works even before the element's script has loaded
  }, [getToken]);
  // Compare by value: a parent that renders again creates new objects, which would reset the viewer's choices.
  useEffect(() => whenDefined(() => filters && element.current?.setFilters(filters)), [JSON.stringify(filters)]);
  useEffect(() => whenDefined(() => element.current?.setTheme(theme ?? null)), [JSON.stringify(theme)]);
  return createElement("tenantry-dashboard", { ...rest, ref: element, src, name });
}

function whenDefined(work) {
  let wanted = true;
  customElements.whenDefined("tenantry-dashboard").then(() => wanted && work());
  return () => {
    wanted = false;
  };
}
