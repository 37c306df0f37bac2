/** Whether a page of `origin` may embed this one. As in frame-ancestors, `https://*.example.com` matches every name below example.com. */
export function isAllowed(origin, hosts) {
  return hosts.some((host) => matches(origin, host === "'self'" ? location.origin : host.toLowerCase()));
}

function matches(origin, host) {
  const [scheme, named] = host.split("://");
  const rest = named.replace(scheme === "https" ? /:443$/ : /:80$/, "");
  if (!rest.startsWith("*.")) return origin === `${scheme}://${rest}`;
  const start = `${scheme}://`;
  const below = origin.slice(start.length);
  return origin.startsWith(start) && below.endsWith(rest.slice(1)) && below.length > rest.length - 1;
}
