import { certificateExpiry } from "../../../../runtime/metrics/table/certificates.ts";
import { locationText } from "../../../diagnostics/source.ts";
import { version } from "../../../installation.ts";
import type { ListenerNode, Program } from "../../../ir/program.ts";
import type { LiveView } from "../view.ts";
import type { CertificateData, ChangeData, GatewayData, LinkData } from "./admin-api.ts";
import { customData, guardData } from "./checks-data.ts";

/** Returns everything about the served gateway that the page shows at once. */
export function gatewayData(view: LiveView): GatewayData {
  const { program, modules } = view.current;
  const { store, keysApi, usage } = program;
  return {
    name: program.name,
    version: version(),
    file: view.file,
    now: Date.now(),
    servedSince: view.servedSince.getTime(),
    generation: view.generations.at(-1)?.number ?? 1,
    change: changeData(view),
    links: linksOf(program),
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
      login: program.process.admin?.key !== undefined,
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

/** Returns the certificates of listeners: missing ones first, then those that expire first. */
function certificates(view: LiveView): readonly CertificateData[] {
  const known = view
    .samples(certificateExpiry)
    .map(({ labels: { hostname = "", file = "" }, value }) => ({
      hostname,
      file,
      expires: value * 1000,
    }))
    .toSorted((a, b) => a.expires - b.expires);
  const shown = new Set(known.map(({ hostname }) => hostname));
  const missing = orderedHostnames(view.current.program).filter((each) => !shown.has(each));
  return [...missing.map((hostname) => ({ hostname, file: "acme", expires: null })), ...known];
}

/** Returns the hostnames of listeners whose certificates are ordered. */
function orderedHostnames({ binds, tcp }: Program): readonly string[] {
  const listeners = [...binds, ...tcp].flatMap((bind): Certified[] => [...bind.listeners]);
  const ordered = listeners.filter(({ tls }) => tls && "kind" in tls && tls.kind === "acme");
  return [...new Set(ordered.map(({ hostname }) => hostname.toLowerCase()))];
}

type Certified = Pick<ListenerNode, "hostname" | "tls">;
