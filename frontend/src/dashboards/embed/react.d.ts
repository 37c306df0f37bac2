/** Types of the React component (embed-react.js). Needs embed.d.ts in the same folder. */

import type { HTMLAttributes, ReactElement } from "react";

import type { DashboardEvents, Filters, TenantryDashboard, Theme } from "./embed.js";

export interface DashboardProps extends Omit<HTMLAttributes<TenantryDashboard>, "onError" | "onClick" | "children"> {
  /** The address where the dashboards are mounted. */
  src: string;
  /** The name of the dashboard. Not needed if `src` is the address of the dashboard itself. */
  name?: string;
  /** The height of the frame in pixels. By default, the frame is as tall as the dashboard. */
  height?: number;
  getToken: NonNullable<TenantryDashboard["getToken"]>;
  /** Sets all choices at the start, and again when the value (not only the object) changes. If omitted, the viewer chooses. */
  filters?: Filters | null;
  /** The group's theme applies to each key that is missing. */
  theme?: Theme | null;
  onReady?: (event: DashboardEvents["ready"]) => void;
  onHeight?: (event: DashboardEvents["height"]) => void;
  onFilters?: (event: DashboardEvents["filters"]) => void;
  onError?: (event: DashboardEvents["error"]) => void;
  onClick?: (event: DashboardEvents["click"]) => void;
}

export function Dashboard(props: DashboardProps): ReactElement;
