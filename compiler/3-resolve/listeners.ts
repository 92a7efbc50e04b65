import type { BackendConfig } from "../backends/index.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import { checkIdentityUse } from "../backends/parts/identity-use.ts";
import { checkTlsFiles } from "../backends/parts/tls-files.ts";
import type { GatewayResource, ListenerResource } from "../config/resources.ts";
import type { SectionUse } from "../config/sections.ts";
import {
  childOf,
  type Diagnostics,
  formatPath,
  keyPlace,
  type Origin,
} from "../diagnostics/diagnostic.ts";
import type { SharedStore } from "../model/shared-store.ts";
import { withoutConsequences } from "./consequences.ts";
import { checkPathHandling } from "./path-handling.ts";

/** Services needed to check listeners. */
export interface ListenerContext extends ConnectionContext {
  /** Backends of the file, by name. */
  readonly backends: ReadonlyMap<string, BackendConfig>;
  /** Records parts of policies that must have an effect somewhere. */
  readonly sections: SectionUse;
  readonly sharedStore: SharedStore;
}

/** Reports listeners that conflict with each other, and certificates that do not match. */
export function checkListeners(gateway: GatewayResource, context: ListenerContext): void {
  const ports: Ports = new Map();
  const hostnames = new Map<string, ListenerResource>();
  for (const listener of gateway.listeners) {
    const own = withoutConsequences(context, listener);
    checkPort(listener, ports, gateway, own.diagnostics);
    checkHostname(listener, hostnames, own.diagnostics);
    checkTls(listener, own);
    checkPathHandling(listener, own.diagnostics);
  }
}

/** First listener of each protocol, per port. */
type Ports = Map<number, Map<string, ListenerResource>>;

function checkPort(
  listener: ListenerResource,
  ports: Ports,
  { process }: GatewayResource,
  diagnostics: Diagnostics,
): void {
  const { port, portOrigin } = listener;
  for (const [by, address] of [
    ["the metrics (config.statsAddr)", process.addresses.stats],
    ["the readiness check (config.readinessAddr)", process.addresses.readiness],
  ] as const) {
    if (address.endsWith(`:${port}`)) diagnostics.report("port-taken", portOrigin, { port, by });
  }
  const spoken = ports.get(port) ?? new Map<string, ListenerResource>();
  ports.set(port, spoken);
  const [first] = spoken.values();
  if (first !== undefined && !isSame(first.portOrigin, portOrigin)) {
    const related = [{ at: first.portOrigin, label: "first used here" }];
    const by = formatPath(first.portOrigin.path.slice(0, -1));
    diagnostics.report("port-taken", portOrigin, { port, by }, related);
    return;
  }
  const { protocol } = listener;
  if (spoken.has(protocol)) return;
  const [, other] = [...spoken].find(([each]) => !canShare(each, protocol)) ?? [];
  if (other === undefined) {
    spoken.set(protocol, listener);
    return;
  }
  diagnostics.report("protocol-conflict", childOf(listener.origin, "protocol"), { port });
}

/** Whether a port can serve both protocols: connections with TLS are distinguished by server name (Gateway API). */
function canShare(a: string, b: string): boolean {
  return [a, b].every((each) => each === "HTTPS" || each === "TLS");
}

function checkHostname(
  listener: ListenerResource,
  hostnames: Map<string, ListenerResource>,
  diagnostics: Diagnostics,
): void {
  const key = `${listener.port} ${listener.hostname}`;
  const first = hostnames.get(key);
  if (first === undefined) {
    hostnames.set(key, listener);
  } else if (isSame(first.portOrigin, listener.portOrigin)) {
    const related = [{ at: first.origin, label: "the first one" }];
    const { hostname, port } = listener;
    diagnostics.report(
      "listener-conflict",
      childOf(listener.origin, "hostname"),
      { hostname, port },
      related,
    );
  }
}

function checkTls(listener: ListenerResource, context: ListenerContext): void {
  const { name, tls, protocol, origin } = listener;
  const { diagnostics } = context;
  if (protocol === "HTTPS" && tls === undefined) {
    diagnostics.report("tls-missing", childOf(origin, "protocol"), { listener: name, protocol });
  }
  if (protocol === "TCP" && listener.hostname !== "*") {
    diagnostics.report("name-without-tls", childOf(origin, "hostname"), {});
  }
  if (tls === undefined) return;
  if (protocol === "HTTP" || protocol === "TCP") {
    const at = keyPlace(childOf(origin, "tls"));
    diagnostics.report("tls-unused", at, { listener: name, protocol });
    return;
  }
  const { certificate, clients } = tls;
  if ("kind" in certificate && certificate.kind === "workloadApi") {
    checkIdentityUse(certificate, context);
    return;
  }
  const files = "kind" in certificate ? {} : certificate;
  // A Secret's files only exist where the gateway runs.
  if ("isSecret" in files && files.isSecret === true) return;
  const { authorities = [] } = clients ?? {};
  const root =
    authorities === "workloadApi"
      ? undefined
      : authorities.find(({ kind }) => kind === "path")?.file;
  checkTlsFiles({ ...files, root }, childOf(origin, "tls"), context);
}

function isSame(a: Origin, b: Origin): boolean {
  return a.file === b.file && a.document === b.document && a.path.join("/") === b.path.join("/");
}
