import type { Program } from "../../ir/program.ts";

/** A port of a Service, as a host of the code names it. */
export interface ServicePortName {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The Services that a program calls. */
export function servicesOf({
  binds,
  tcp,
  accessLog,
  tracing,
}: Program): readonly ServicePortName[] {
  const found = new Map<string, ServicePortName>();
  const seen = new Set<object>();
  const walk = (value: unknown): void => {
    if (typeof value === "string") {
      const [id = "", name = "", namespace = "", port] = SERVICE_URL.exec(value) ?? [];
      const number = Number(port ?? (value.startsWith("https:") ? 443 : 80));
      if (id !== "") found.set(`${namespace}/${name}:${number}`, { namespace, name, port: number });
      return;
    }
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    for (const each of value instanceof Map ? value.values() : Object.values(value)) walk(each);
  };
  walk([binds, tcp, accessLog, tracing]);
  return [...found.values()];
}

/** A host of the DNS of Kubernetes, in a URL or by itself. */
const SERVICE_URL = /^(?:[a-z+]+:\/\/)?([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.[a-z.]+(?::(\d+))?(?:\/|$)/;
