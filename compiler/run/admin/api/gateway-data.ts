import { certificateExpiry } from "../../../../runtime/metrics/table/certificates.ts";
import { locationText } from "../../../diagnostics/source.ts";
import { version } from "../../../installation.ts";
import type { Program } from "../../../ir/program.ts";
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
