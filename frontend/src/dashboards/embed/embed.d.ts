/** Types of `<tenantry-dashboard>` (embed.js). */

/** A viewer's choices, by the names of the dashboard's controls. */
export type Filters = Record<string, string | string[] | { preset: string } | { start: string | null; end: string | null }>;

export interface Theme {
  mode?: "light" | "dark" | "auto";
  /** A colour as CSS writes it, such as `#2456c4`. */
  accent?: string;
  /** At most eight colours of series. */
  palette?: string[];
  good?: string;
  warn?: string;
  bad?: string;
  /** The page, and what lies on it; each counts in the mode whose text can be read on it. */
  background?: string;
  surface?: string;
  corner?: "square" | "round";
  density?: "compact";
  /** Families of fonts that viewers have. */
  font?: string;
  /** An image as a `data:image/…` address. */
  logo?: string;
}

/**
 * `no_answer`: the dashboard did not load in this page (is its origin among the embedding hosts?); `no_token`:
 * `getToken` failed; `token_timeout`: it gave nothing within ten seconds; `same_token`: it gave the token that had been
 * refused; `refused`: the new one was refused too; `bad_address`: `src` and `name` make no address;
 * `unknown_dashboard`: there is none of this name; `invalid_filters`: the filters are refused, and `message` says why;
 * `unreachable`: the server does not answer, and is asked again. Others come from the dashboard.
 */
export interface DashboardError {
  code: string;
  /** Where a token was refused: the server's code, such as `pass_expired` or `user_group_suspended`. */
  reason?: string;
  message?: string;
  /** The panel that shows this error; the others are shown as they are. */
  panel?: string;
  /** The control whose choices could not be loaded. */
  control?: string;
}

/** A click on a row or mark of a panel with `click: {event: […]}`. */
export interface DashboardClick {
  /** The dashboard's name. */
  dashboard: string;
  /** The panel's id, such as `1-2`. */
  panel: string;
  /** The columns that the panel names. A number that JavaScript cannot hold exactly, and a decimal, is a string. */
  row: Record<string, unknown>;
}

export interface ShownDashboard {
  name: string;
  title: string;
}

export interface DashboardEvents {
  /** The dashboard is shown. It comes again when a click has opened another one in the frame. */
  ready: CustomEvent<ShownDashboard>;
  /** Pixels. */
  height: CustomEvent<number>;
  /** The choices as they are now. */
  filters: CustomEvent<Filters>;
  /** Everything that the viewer sees as an error, and each call of `setFilters` that the dashboard refuses. */
  error: CustomEvent<DashboardError>;
  /** A click in the dashboard; one on the element's own edge is a MouseEvent. */
  click: CustomEvent<DashboardClick>;
}

export class TenantryDashboard extends HTMLElement {
  /** Gives a pass. Asked at the start, when nine tenths of the time of a pass are over, and once when one was refused. */
  getToken: (() => Promise<string> | string) | null;
  readonly filters: Filters;
  /**
   * Replaces the choices: a control that is not named goes back to its default. What the dashboard does not take is an
   * `error` with the code `invalid_filters`, and changes nothing.
   */
  setFilters(filters: Filters | null): void;
  /** Replaces the look: without a key, or with null, the group's theme counts. */
  setTheme(theme: Theme | null): void;
  /** Begins anew, for example after an error. */
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
