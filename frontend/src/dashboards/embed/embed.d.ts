/** Types of `<tenantry-dashboard>` (embed.js). */

/** Name of a control of the dashboard -> the value that the viewer chose. */
export type Filters = Record<string, string | string[] | { preset: string } | { start: string | null; end: string | null }>;

export interface Theme {
  mode?: "light" | "dark" | "auto";
  /** A CSS colour, such as `#2456c4`. */
  accent?: string;
  /** The colours of series, at most eight. */
  palette?: string[];
  good?: string;
  warn?: string;
  bad?: string;
  /** Colours of the page and of the panels. Each is used only in the mode (light or dark) whose text is legible on it. */
  background?: string;
  surface?: string;
  corner?: "square" | "round";
  density?: "compact";
  /** Font families that are installed on the viewers' devices. */
  font?: string;
  /** An image as a `data:image/…` address. */
  logo?: string;
}

/**
 * Codes of the element; the dashboard reports others.
 * - `no_answer`: the dashboard did not load. Check that the origin of this page is one of the embedding hosts.
 * - `no_token`: `getToken` failed.
 * - `token_timeout`: `getToken` returned nothing within ten seconds.
 * - `same_token`: `getToken` returned the token that the server had just refused.
 * - `refused`: the server refused the new token, too.
 * - `bad_address`: `src` and `name` are not a valid address.
 * - `unknown_dashboard`: there is no dashboard with this name.
 * - `invalid_filters`: the dashboard does not accept the filters; `message` says why.
 * - `unreachable`: the server does not answer. The element tries again.
 */
export interface DashboardError {
  code: string;
  /** If a token was refused: the server's error code, such as `pass_expired` or `user_group_suspended`. */
  reason?: string;
  message?: string;
  /** The id of the panel that shows this error. The other panels are not affected. */
  panel?: string;
  /** The name of the control whose choices could not be loaded. */
  control?: string;
}

/** A click on a row or mark of a panel with `click: {event: […]}`. */
export interface DashboardClick {
  /** The dashboard's name. */
  dashboard: string;
  /** The panel's id, such as `1-2`. */
  panel: string;
  /** The values of the columns in `event`. Decimals, and numbers that JavaScript cannot represent exactly, are strings. */
  row: Record<string, unknown>;
}

export interface ShownDashboard {
  name: string;
  title: string;
}

export interface DashboardEvents {
  /** A dashboard is shown: the first one, or another one that a click has opened in the frame. */
  ready: CustomEvent<ShownDashboard>;
  /** The height of the dashboard in pixels has changed. */
  height: CustomEvent<number>;
  /** The viewer's choices have changed; `detail` has all of them. */
  filters: CustomEvent<Filters>;
  /** The viewer sees an error, or the dashboard has refused a call of `setFilters`. */
  error: CustomEvent<DashboardError>;
  /** A click on a row or mark in the dashboard. A click on the edge of the element itself is a MouseEvent. */
  click: CustomEvent<DashboardClick>;
}

export class TenantryDashboard extends HTMLElement {
  /** Returns a pass. Called at the start, after nine tenths of a pass's lifetime, and once after the server refused a pass. */
  getToken: (() => Promise<string> | string) | null;
  readonly filters: Filters;
  /**
   * Replaces all choices. A control that `filters` does not name gets its default. If the dashboard does not accept the
   * filters, nothing changes, and the element fires `error` with the code `invalid_filters`.
   */
  setFilters(filters: Filters | null): void;
  /** Replaces the theme. For each key that is missing, and for all keys if `theme` is null, the group's theme applies. */
  setTheme(theme: Theme | null): void;
  /** Loads the dashboard again, for example after an error. */
  reload(): void;
  addEventListener<K extends keyof DashboardEvents>(
    type: K,
    listener: (this: TenantryDashboard, event: DashboardEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "tenantry-dashboard": TenantryDashboard;
  }
}
