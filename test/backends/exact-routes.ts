import type { Gateway } from "../harness/gateway.ts";

/** A listener with a route to each backend, by the whole path. */
export function exactRoutes(backends: Readonly<Record<string, object>>): readonly object[] {
  const routes = Object.entries(backends).map(([path, backend]) => ({
    matches: [{ path: { exact: path } }],
    backends: [backend],
  }));
  return [{ routes }];
}

/** Sends a request; `seen` is the backend's report of it, parsed if it is JSON. */
export async function get(
  { port }: Gateway,
  path = "/",
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const text = await response.text();
  return { status: response.status, seen: text.startsWith("{") ? JSON.parse(text) : text };
}
