import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportDraft, ImportNote } from "../imported-text.ts";
import {
  type DraftFields,
  type DraftMatch,
  isClosed,
  type RouteDraft,
  type SiteDraft,
} from "./route-draft.ts";
import { routeName } from "./texts.ts";

/** A converted configuration of sites. */
interface SiteFile extends ImportDraft {
  readonly value: { readonly binds: readonly DraftFields[] };
}

/** Converts the sites of another proxy to a configuration. */
export function siteFile(sites: readonly SiteDraft[], notes: readonly string[]): SiteFile {
  const binds = [...Map.groupBy(sites, ({ port, address = "" }) => `${port} ${address}`).values()];
  const written = binds.map((each, index) => bindOf(each, ["binds", index], new Names()));
  return {
    value: { binds: written.map(({ value }) => value) },
    notes: [
      ...notes.map((text) => ({ path: ["binds"], text })),
      ...written.flatMap((each) => each.notes),
    ],
  };
}

interface Written {
  readonly value: DraftFields;
  readonly notes: readonly ImportNote[];
}

/** A listener for one host name, or for all other hosts. */
interface ListenerDraft {
  readonly hostname?: string | undefined;
  readonly tls: DraftFields | undefined;
  readonly routes: readonly (RouteDraft & { readonly hostnames?: readonly string[] })[];
  readonly notes: readonly string[];
}

function bindOf(sites: readonly SiteDraft[], path: ConfigPath, names: Names): Written {
  const [first] = sites;
  const listeners = listenersOf(sites);
  const written = listeners.map((each, index) =>
    listenerOf(each, [...path, "listeners", index], names),
  );
  const value = {
    port: first?.port,
    ...(first?.address !== undefined && { address: first.address }),
    ...(sites.some(({ isProxied }) => isProxied === true) && { tunnelProtocol: "proxy" }),
    listeners: written.map((each) => each.value),
  };
  return { value, notes: written.flatMap(({ notes }) => notes) };
}

/**
 * Creates one listener for each site. Sites with several hosts and the same certificate share a listener whose routes name
 * the hosts: next to listeners with host names, wildcards among those would take precedence.
 */
function listenersOf(sites: readonly SiteDraft[]): readonly ListenerDraft[] {
  const hosts = sites.map((site) => hostsOf(site, sites));
  const isOneEach = hosts.every((each) => each.length === 1);
  const [first] = sites;
  const isOneKey = sites.every(({ tls }) => JSON.stringify(tls) === JSON.stringify(first?.tls));
  if (!isOneEach && isOneKey) {
    const routes = sites.flatMap((site, at) => {
      const named = hosts[at]?.filter((host) => host !== undefined) ?? [];
      const own =
        named.length === 0 ? [] : site.routes.map((each) => ({ ...each, hostnames: named }));
      return [...own, ...(site.isDefault ? site.routes : [])];
    });
    return [{ tls: first?.tls, routes, notes: sites.flatMap(({ notes }) => notes) }];
  }
  return sites.flatMap((site, at) =>
    (hosts[at] ?? []).map((hostname) => ({
      hostname,
      tls: site.tls,
      routes: site.routes,
      notes: site.notes,
    })),
  );
}

/** Lists the hosts of a site; `undefined` means all hosts of no other site, which includes its own names unless another site's wildcard covers them. */
function hostsOf(
  { hostnames, isDefault }: SiteDraft,
  sites: readonly SiteDraft[],
): readonly (string | undefined)[] {
  if (!isDefault) return hostnames;
  const isElsewhere = sites.some((each) =>
    each.hostnames.some(
      (name) => name.startsWith("*.") && hostnames.some((own) => own.endsWith(name.slice(1))),
    ),
  );
  return isElsewhere ? [...hostnames, undefined] : [undefined];
}

function listenerOf(draft: ListenerDraft, path: ConfigPath, names: Names): Written {
  const value = {
    name: names.next(draft.hostname ?? "all"),
    ...(draft.hostname !== undefined && { hostname: draft.hostname }),
    ...(draft.tls !== undefined && { protocol: "HTTPS", tls: draft.tls }),
    routes: draft.routes.map((each) => routeValue(each, names)),
  };
  return {
    value,
    notes: [
      ...draft.notes.map((text) => ({ path, text })),
      ...draft.routes.flatMap(({ notes }, index) =>
        notes.map((text) => ({ path: [...path, "routes", index], text })),
      ),
    ],
  };
}

function routeValue(
  route: RouteDraft & { readonly hostnames?: readonly string[] },
  names: Names,
): DraftFields {
  const { name, hostnames, matches, policies, backends } = route;
  const isOnly = matches.length === 1 && JSON.stringify(matches[0]) === JSON.stringify(EVERY);
  return {
    name: names.next(name),
    ...(hostnames !== undefined && { hostnames }),
    ...(!isOnly && { matches: matches.map(matchValue) }),
    ...(Object.keys(policies).length > 0 && { policies }),
    ...(backends.length > 0 && !isClosed(route) && { backends }),
  };
}

const EVERY: DraftMatch = { path: { kind: "prefix", value: "/" } };

function matchValue({ path, method, headers = [], query = [] }: DraftMatch): DraftFields {
  const values = (list: typeof headers) =>
    list.map(({ name, kind, value }) => ({ name, value: { [kind]: value } }));
  const field = path && { exact: "exact", prefix: "pathPrefix", regex: "regex" }[path.kind];
  return {
    ...(path !== undefined && field !== undefined && { path: { [field]: path.value } }),
    ...(method !== undefined && { method }),
    ...(headers.length > 0 && { headers: values(headers) }),
    ...(query.length > 0 && { query: values(query) }),
  };
}

/** Generates unique names. */
class Names {
  readonly #taken = new Set<string>();

  next(text: string): string {
    const name = routeName(text);
    for (let count = 1; ; count++) {
      const one = count === 1 ? name : `${name}-${count}`;
      if (this.#taken.has(one)) continue;
      this.#taken.add(one);
      return one;
    }
  }
}
