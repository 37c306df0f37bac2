/** Types of the React wrapper (embed-react.js), beside embed.d.ts. */

import type { HTMLAttributes, ReactElement } from "react";

import type { DashboardEvents, Filters, TenantryDashboard, Theme } from "./embed.js";

export interface DashboardProps extends Omit<HTMLAttributes<TenantryDashboard>, "onError" | "onClick" | "children"> {
  /** The address where the dashboards are mounted. */
  src: string;
  /** The dashboard, unless `src` is its own address. */
  name?: string;
  /** Pixels, if the frame shall not be as tall as its page. */
  height?: number;
  getToken: NonNullable<TenantryDashboard["getToken"]>;
  /** All choices at first, and whenever you give others (by value, not by object). Without it they are the viewer's. */
  filters?: Filters | null;
  /** How it looks. Without it, or a key of it, the group's theme counts. */
  theme?: Theme | null;
  onReady?: (event: DashboardEvents["ready"]) => void;
  onHeight?: (event: DashboardEvents["height"]) => void;
  onFilters?: (event: DashboardEvents["filters"]) => void;
  onError?: (event: DashboardEvents["error"]) => void;
  onClick?: (event: DashboardEvents["click"]) => void;
}

export function Dashboard(props: DashboardProps): ReactElement;
