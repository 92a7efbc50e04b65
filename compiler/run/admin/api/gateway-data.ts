import { certificateExpiry } from "../../../../runtime/metrics/table/certificates.ts";
import { policiesText } from "../../../../templates/policies/parts/chain.ts";
import { locationText } from "../../../diagnostics/source.ts";
import { version } from "../../../installation.ts";
import { policiesBefore } from "../../../ir/access.ts";
import type { PolicyUse } from "../../../ir/policies.ts";
import type { BindNode, ListenerNode, Program } from "../../../ir/program.ts";
import type { TcpBindNode, TcpListenerNode } from "../../../ir/tcp.ts";
import { playgroundRoutes } from "../../playground/playground.ts";
import { place } from "../places.ts";
import type { LiveView } from "../view.ts";
import type {
  CertificateData,
  ChangeData,
  GatewayData,
  LinkData,
  ListenerData,
  PolicyData,
} from "./admin-api.ts";
import { customData, guardData } from "./checks-data.ts";
import { connectionRouteData, routeData } from "./route-data.ts";

/** Returns everything about the served gateway that the page shows at once. */
export function gatewayData(view: LiveView): GatewayData {
  const { program, modules } = view.current;
  const { binds, tcp, store, keysApi, usage } = program;
  const tryable = playgroundRoutes(program);
  const canTry = new Set(tryable.map(({ route }) => route.id));
  return {
    name: program.name,
    version: version(),
    file: view.file,
    now: Date.now(),
    servedSince: view.servedSince.getTime(),
    generation: view.generations.at(-1)?.number ?? 1,
    change: changeData(view),
    links: linksOf(program),
    listeners: binds.flatMap((bind) =>
      bind.listeners.map((listener) => listenerData(bind, listener, canTry, view)),
    ),
    connections: tcp.flatMap((bind) =>
      bind.listeners.map((listener) => connectionListenerData(bind, listener, view)),
    ),
    servers: view.servers(),
    certificates: certificates(view),
    guards: guardData(view),
    custom: customData(view),
    counts: {
      inFlight: view.journal.inFlight,
      unrouted: view.routes().find(({ route }) => route === "unknown")?.requests ?? 0,
      waitingCalls: view.waitingCalls(),
      modules: modules.length,
    },
    has: {
      usage: usage !== undefined,
      keys: store !== undefined,
      keysApi: keysApi !== undefined,
    },
  };
}

function changeData({ lastChange: { at, findings, problem } }: LiveView): ChangeData {
  return {
    at: at.getTime(),
    problem: problem ?? null,
    findings: findings.map(({ severity, code, message, hint, location }) => ({
      severity,
      code,
      message,
      hint: hint ?? null,
      place: locationText(location),
    })),
  };
}

/** Returns links to the service addresses that are on. */
function linksOf({ process: { addresses } }: Program): readonly LinkData[] {
  const link = (address: string, path: string, label: string): readonly LinkData[] => {
    if (address === "off") return [];
    const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? [];
    if (port === "0") return [];
    const isEverywhere = ["", "0.0.0.0", "[::]"].includes(host);
    return [{ label, url: `http://${isEverywhere ? "127.0.0.1" : host}:${port}${path}` }];
  };
  return [
    ...link(addresses.stats, "/metrics", "Metrics"),
    ...link(addresses.readiness, "/healthz/ready", "Readiness"),
  ];
}

function listenerData(
  { port, tls }: BindNode,
  listener: ListenerNode,
  canTry: ReadonlySet<string>,
  view: LiveView,
): ListenerData {
  return {
    name: listener.name,
    port,
    scheme: tls === undefined ? "http" : "https",
    host: listener.hostname === "*" ? "any host" : listener.hostname,
    place: place(listener.origin, view),
    policies: policyData(policiesBefore(listener), view),
    routes: listener.routes.map((route) => ({
      ...routeData(route, listener, view),
      policies: policyData(route.policies, view),
      canTry: canTry.has(route.id),
    })),
  };
}

function connectionListenerData(
  { port, mode }: TcpBindNode,
  listener: TcpListenerNode,
  view: LiveView,
): ListenerData {
  // On a port where some TLS ends, the rest has no certificate here.
  const isPassed = mode.kind === "terminate" && listener.tls === undefined;
  const scheme = { plain: "tcp", passthrough: "tls, passed on", terminate: "tls" } as const;
  return {
    name: listener.name,
    port,
    scheme: scheme[isPassed ? "passthrough" : mode.kind],
    host: listener.hostname === "*" ? "any server name" : listener.hostname,
    place: place(listener.origin, view),
    policies: policyData(listener.admission, view),
    routes: listener.routes.map((route) => ({
      ...connectionRouteData(route, listener, view),
      policies: policyData(route.policies, view),
    })),
  };
}

function policyData(policies: readonly PolicyUse[], view: LiveView): readonly PolicyData[] {
  return policies.map((use) => ({ text: policiesText([use]), place: place(use.origin, view) }));
}

function certificates(view: LiveView): readonly CertificateData[] {
  return view
    .samples(certificateExpiry)
    .map(({ labels: { hostname = "", file = "" }, value }) => ({
      hostname,
      file,
      expires: value * 1000,
    }))
    .toSorted((a, b) => a.expires - b.expires);
}
