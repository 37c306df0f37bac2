/**
 * <Dashboard> for React 18 and 19, around <tenantry-dashboard>: React 18 passes no functions to custom elements, and 19
 * takes properties that begin with "on" for events. Copy it into your app, or import it from where it is served.
 */

import { createElement, useEffect, useRef } from "react";

const EVENTS = ["ready", "height", "filters", "error", "click"];

/**
 * @param {object} props
 * @param {string} props.src  the address where the dashboards are mounted
 * @param {string} props.name  the dashboard
 * @param {() => Promise<string>} props.getToken
 * @param {object} [props.filters]  all choices at first, and whenever you give others; without it they are the viewer's
 * @param {object} [props.theme]  without it, or a key of it, the group's counts
 * @param {(event: CustomEvent) => void} [props.onReady]  and onHeight, onFilters, onError, onClick
 */
export function Dashboard({ src, name, getToken, filters, theme, onReady, onHeight, onFilters, onError, onClick, ...rest }) {
  const element = useRef(null);
  const listeners = useRef({});
  listeners.current = { ready: onReady, height: onHeight, filters: onFilters, error: onError, click: onClick };
  useEffect(() => {
    const own = element.current;
    const call = (event) => event instanceof CustomEvent && listeners.current[event.type]?.(event); // no click of a mouse
    for (const type of EVENTS) own.addEventListener(type, call);
    return () => EVENTS.forEach((type) => own.removeEventListener(type, call));
  }, []);
  useEffect(() => {
    element.current.getToken = getToken; // also before the element's script is there
  }, [getToken]);
  // By value: a parent that is drawn again makes new objects, and would take the viewer's own choices away.
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
