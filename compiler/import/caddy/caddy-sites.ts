import { draftsInOrder } from "../proxy/ordered-routes.ts";
import type { DraftFields, SiteDraft } from "../proxy/route-draft.ts";
import { type CaddyRoute, routesOfSteps } from "./caddy-steps.ts";

/** Address of a Caddy site. */
export interface CaddyAddress {
  /** Host name; `undefined` for every host. */
  readonly host: string | undefined;
  readonly port: number;
  readonly isSecure: boolean;
  /** Port from which plain HTTP is redirected; `undefined` without a redirect. */
  readonly redirectsFrom: number | undefined;
}

/** Parses `https://a.example.com:8443`; returns the reason as a string if that is impossible. */
export function addressOf(text: string, http: number, https: number): CaddyAddress | string {
  const [, scheme, name = "", digits, path = ""] =
    /^(?:(https?):\/\/)?(\[[0-9a-f:]+\]|\$\{\w+(?::-[\w.-]*)?\}|[\w.*-]*)(?::(\d+))?(\/.*)?$/i.exec(
      text,
    ) ?? [];
  if (path !== "" || (name === "" && digits === undefined && scheme === undefined))
    return `${text} is not an address that gwc supports`;
  const port = digits === undefined ? undefined : Number(digits);
  const host = name === "" ? undefined : hostName(name);
  const isPlain =
    scheme === "http" || (scheme === undefined && (port === http || host === undefined));
  if (host !== undefined && !/^(\*\.)?[^*]+$/.test(host))
    return `${text} has a wildcard that is not its first label`;
  const isSecure = !isPlain && !(host === undefined && scheme !== "https" && port !== https);
  const own = port ?? (isSecure ? https : http);
  const redirectsFrom = isSecure && own === https && scheme !== "http" ? http : undefined;
  return { host, port: own, isSecure, redirectsFrom };
}

/** A host in lower case; a variable needs a value when the gateway is built, so it gets Caddy's usual one. */
function hostName(name: string): string {
  const [, variable] = /^\$\{(\w+)(?::-)?\}$/.exec(name) ?? [];
  if (variable !== undefined) return `\${${variable}:-localhost}`;
  return name.startsWith("$") ? name : name.toLowerCase();
}

/** Creates the sites for routes at a list of addresses. */
export function sitesOfRoutes(
  addresses: readonly CaddyAddress[],
  routes: readonly CaddyRoute[],
  tls: DraftFields | undefined,
  notes: readonly string[],
): readonly SiteDraft[] {
  const drafts = draftsInOrder(routesOfSteps(routes));
  const groups = Map.groupBy(addresses, ({ port, isSecure }) => `${port} ${isSecure}`);
  const sites = [...groups.values()].flatMap((group): readonly SiteDraft[] => {
    const [{ port, isSecure } = { port: 0, isSecure: false }] = group;
    const hostnames = group.flatMap(({ host }) => (host === undefined ? [] : [host]));
    const isDefault = group.some(({ host }) => host === undefined);
    const site = { port, hostnames, isDefault, routes: drafts, notes };
    if (!isSecure) return [site];
    if (tls !== undefined) return [{ ...site, tls }];
    const why =
      "Caddy obtains and renews certificates itself; gwc reads them from files and reloads these when they change";
    return hostnames.length === 0
      ? [{ ...site, tls: keyOf("server"), notes: [...notes, why] }]
      : hostnames.map((host) => ({
          ...site,
          hostnames: [host],
          tls: keyOf(host),
          notes: [...notes, why],
        }));
  });
  const redirected = addresses.flatMap(({ host, redirectsFrom }) =>
    redirectsFrom === undefined || host === undefined ? [] : [{ host, port: redirectsFrom }],
  );
  const first = redirected[0];
  if (first === undefined) return sites;
  const redirect = {
    name: "to-https",
    matches: [{ path: { kind: "prefix", value: "/" } }] as const,
    policies: { requestRedirect: { scheme: "https", status: 308 } },
    backends: [],
    notes: [],
  };
  const hostnames = redirected.map(({ host }) => host);
  return [
    ...sites,
    { port: first.port, hostnames, isDefault: false, routes: [redirect], notes: [] },
  ];
}

function keyOf(host: string): DraftFields {
  const name = host.replace("*", "wildcard").replace(/^\$\{(\w+).*$/, "$1");
  return { cert: `certs/${name}.crt`, key: `certs/${name}.key` };
}
