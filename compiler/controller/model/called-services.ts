import type { Program, RouteNode } from "../../ir/program.ts";
import type { KeptByObject } from "../../kept-results.ts";

/** A port of a Service, as a host of the code names it. */
export interface ServicePortName {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The Services that a program calls. `kept`: those of routes that did not change. */
export function servicesOf(
  { binds, tcp, accessLog, tracing }: Program,
  kept?: KeptByObject<RouteNode, readonly ServicePortName[]>,
): readonly ServicePortName[] {
  const routes = new Set(
    binds.flatMap(({ listeners }) => listeners.flatMap((each) => each.routes)),
  );
  const others = binds.map((bind) => ({
    ...bind,
    // What requests are matched with calls nobody.
    listeners: bind.listeners.map((listener) => ({ ...listener, routes: [], table: [] })),
  }));
  const called = [...routes].flatMap(
    (route) => kept?.of(route, () => servicesIn(route)) ?? servicesIn(route),
  );
  const all = [...called, ...servicesIn([others, tcp, accessLog, tracing])];
  return [...new Map(all.map((each) => [serviceKey(each), each])).values()];
}

function serviceKey({ namespace, name, port }: ServicePortName): string {
  return `${namespace}/${name}:${port}`;
}

function servicesIn(whole: unknown): readonly ServicePortName[] {
  const found: ServicePortName[] = [];
  const seen = new Set<object>();
  const walk = (value: unknown): void => {
    if (typeof value === "string") {
      const [id = "", name = "", namespace = "", port] = SERVICE_URL.exec(value) ?? [];
      const number = Number(port ?? (value.startsWith("https:") ? 443 : 80));
      if (id !== "") found.push({ namespace, name, port: number });
      return;
    }
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    for (const each of value instanceof Map ? value.values() : Object.values(value)) walk(each);
  };
  walk(whole);
  return found;
}

/** A host of the DNS of Kubernetes, in a URL or by itself. */
const SERVICE_URL = /^(?:[a-z+]+:\/\/)?([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.[a-z.]+(?::(\d+))?(?:\/|$)/;
