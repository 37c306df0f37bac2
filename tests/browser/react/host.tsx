// A product that embeds a dashboard by the React wrapper, and by the element itself where a page has no React.

import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

import type { DashboardError, Filters, TenantryDashboard } from "./embed.js";
import { Dashboard } from "./embed-react.js";

const src = document.body.dataset["dashboards"] ?? "";
const getToken = async (): Promise<string> => (await fetch("/token/acme")).text();

function Product() {
  const [filters, setFilters] = useState<Filters>({ route: "A-C" });
  const [open, setOpen] = useState(true);
  const [notes, setNotes] = useState<string[]>([]);
  const note = (text: string) => setNotes((before) => [...before, text]);
  return (
    <>
      <button onClick={() => setFilters({ route: "A-B" })}>Other filters</button>
      <button onClick={() => setFilters({})}>No filters</button>
      <button onClick={() => setOpen(!open)}>{open ? "Close" : "Open"}</button>
      <ol>
        {notes.map((text, place) => (
          <li key={place}>{text}</li>
        ))}
      </ol>
      {open && (
        <Dashboard
          src={src}
          name="sales/regions"
          aria-label="Sales"
          className="wide"
          getToken={getToken}
          filters={{ ...filters }}
          theme={{ mode: "dark", accent: "#224466" }}
          onReady={({ detail }) => note(`ready ${detail.name} ${detail.title}`)}
          onHeight={({ detail }) => detail.toFixed()}
          onFilters={({ detail }) => note(`filters ${JSON.stringify(detail)}`)}
          onError={({ detail }) => note(`error ${detail.code}`)}
          onClick={({ detail }) => note(`click ${JSON.stringify(detail.row)}`)}
        />
      )}
    </>
  );
}

const place = document.body.appendChild(document.createElement("div"));
createRoot(place).render(
  <StrictMode>
    <Product />
  </StrictMode>,
);

// --- compiled only: what the types take, and what they refuse ---

export function plain(element: TenantryDashboard): void {
  element.getToken = getToken;
  element.getToken = () => "token";
  element.setFilters({ period: { preset: "last-30-days" }, days: { start: "2026-01-01", end: null }, routes: ["A-B"] });
  element.setTheme({ mode: "auto" });
  element.addEventListener("height", ({ detail }) => detail.toFixed());
  element.addEventListener("filters", (event) => Object.keys(event.detail));
  element.addEventListener("error", ({ detail }) => failed(detail));
  element.addEventListener("click", ({ detail }) => detail.row["route"] ?? element.reload());
  document.createElement("tenantry-dashboard").getToken = getToken;
  // @ts-expect-error no such mode
  element.setTheme({ mode: "pink" });
  // @ts-expect-error a number is no value of a filter
  element.setFilters({ route: 5 });
  // @ts-expect-error it is read; setFilters sets it
  element.filters = {};
  // @ts-expect-error a token is a text
  element.getToken = () => 5;
}

function failed({ code, message }: DashboardError): string {
  return message ?? code;
}

export const refused = [
  // @ts-expect-error without an address
  <Dashboard key="1" getToken={getToken} />,
  // @ts-expect-error without a token
  <Dashboard key="2" src={src} />,
  // @ts-expect-error the height is a number
  <Dashboard key="3" src={src} getToken={getToken} onHeight={({ detail }) => detail.trim()} />,
];
