import type { CachedByObject } from "../../cached-results.ts";
import type { Program, RouteNode } from "../../ir/program.ts";

/** A port of a Service, or of the pods of an InferencePool, as a host of the code names it. */
export interface ServicePortName {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly isPool?: true;
}

/** The Services that a program calls. `cached`: those of routes that did not change. */
export function servicesOf(
  { binds, tcp, accessLog, tracing }: Program,
  cached?: CachedByObject<RouteNode, readonly ServicePortName[]>,
): readonly ServicePortName[] {
  const routes = new Set(
    binds.flatMap(({ listeners }) => listeners.flatMap((each) => each.routes)),
  );
  const others = binds.map((bind) => ({
    ...bind,
    // Matches of requests call no servers.
    listeners: bind.listeners.map((listener) => ({ ...listener, routes: [], table: [] })),
  }));
  const called = [...routes].flatMap(
    (route) => cached?.of(route, () => servicesIn(route)) ?? servicesIn(route),
  );
  const all = [...called, ...servicesIn([others, tcp, accessLog, tracing])];
  return [...new Map(all.map((each) => [endpointsName(each), each])).values()];
}

/** Name by which data planes call the pods of a Service's port, or of a pool. */
export function endpointsName({ namespace, name, port, isPool }: ServicePortName): string {
  return `${isPool === true ? "pool/" : ""}${namespace}/${name}:${port}`;
}

function servicesIn(whole: unknown): readonly ServicePortName[] {
  const found: ServicePortName[] = [];
  const seen = new Set<object>();
  const walk = (value: unknown): void => {
    if (typeof value === "string") {
      const [id = "", name = "", namespace = "", kind, digits] = SERVICE_URL.exec(value) ?? [];
      const port = Number(digits ?? (value.startsWith("https:") ? 443 : 80));
      if (id === "") return;
      found.push({ namespace, name, port, ...(kind === "pool" && { isPool: true }) });
      return;
    }
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    for (const each of value instanceof Map ? value.values() : Object.values(value)) walk(each);
  };
  walk(whole);
  return found;
}

/** A host of the DNS of Kubernetes, or one that stands for the pods of a pool, in a URL or by itself. */
const SERVICE_URL =
  /^(?:[a-z+]+:\/\/)?([a-z0-9.-]+)\.([a-z0-9-]+)\.(svc|pool)\.[a-z.]+(?::(\d+))?(?:\/|$)/;
