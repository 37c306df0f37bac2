/** Types of `<tenantry-dashboard>` (embed.js). */

/** A viewer's choices, by the names of the dashboard's controls. */
export type Filters = Record<string, string | string[] | { preset: string } | { start: string; end: string }>;

export interface Theme {
  mode?: "light" | "dark" | "auto";
  accent?: string;
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

export interface DashboardEvents {
  ready: CustomEvent<undefined>;
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
  setFilters(filters: Filters): void;
  setTheme(theme: Theme): void;
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
