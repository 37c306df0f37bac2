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
 * `getToken` failed; `same_token`: it gave the token that had been refused; `refused`: the new one was refused too;
 * `bad_address`: `src` and `name` make no address. Others come from the dashboard.
 */
export interface DashboardError {
  code: string;
  message?: string;
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
  error: CustomEvent<DashboardError>;
}

export class TenantryDashboard extends HTMLElement {
  /** Gives the group's live token. Asked once at the start, and once when the token was refused. */
  getToken: (() => Promise<string> | string) | null;
  readonly filters: Filters;
  /** Replaces the choices: a control that is not named goes back to its default. */
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
