import type { Table, TableMatch, TableRoute, TableValue } from "./model.ts";

/** Tables as a standalone file: a port each; a route answers with `TABLE/ID`. */
export function standaloneText(
  tables: readonly Table[],
  ports: readonly number[],
  isLeftOut: (name: string) => boolean,
): string {
  return JSON.stringify({
    binds: tables.map(({ listeners }, table) => ({
      port: ports[table],
      listeners: listeners.map(({ hostname, routes }) => ({
        ...(hostname === undefined ? {} : { hostname }),
        routes: routes
          .map((route) => ({ ...route, hostnames: namesWithin(route, hostname) }))
          .filter(({ id, hostnames }) => hostnames !== undefined && !isLeftOut(`t${table}/${id}`))
          .map(({ id, hostnames, matches }) => ({
            name: `t${table}/${id}`,
            ...(hostnames?.length === 0 ? {} : { hostnames }),
            ...(matches.length === 0 ? {} : { matches: matches.map(standaloneMatch) }),
            policies: { directResponse: { status: 200, body: `t${table}/${id}` } },
          })),
      })),
    })),
  });
}

/** The names that a listener has any of: others are refused. Undefined when none is left. */
function namesWithin(
  { hostnames }: TableRoute,
  listener: string | undefined,
): readonly string[] | undefined {
  if (hostnames.length === 0 || listener === undefined) return hostnames;
  const found = hostnames.filter((name) => overlap(name, listener));
  return found.length === 0 ? undefined : found;
}

function overlap(a: string, b: string): boolean {
  const [wildA, wildB] = [a.startsWith("*"), b.startsWith("*")];
  if (!wildA && !wildB) return a === b;
  const [suffixA, suffixB] = [a.slice(1), b.slice(1)];
  if (wildA && wildB) return suffixA.endsWith(suffixB) || suffixB.endsWith(suffixA);
  return wildA ? b.endsWith(suffixA) : a.endsWith(suffixB);
}

function standaloneMatch({ path, method, headers, query }: TableMatch): object {
  const kinds = { exact: "exact", prefix: "pathPrefix", regex: "regex" } as const;
  const values = (list: readonly TableValue[]) =>
    list.map(({ name, kind, value }) => ({ name, value: { [kind]: value } }));
  return {
    ...(path === undefined ? {} : { path: { [kinds[path.kind]]: path.value } }),
    ...(method === undefined ? {} : { method }),
    headers: values(headers),
    query: values(query),
  };
}

/** Tables as manifests: a port each of one Gateway, an HTTPRoute for each route, whose redirect says which one it is. */
export function clusterText(tables: readonly Table[], ports: readonly number[]): string {
  const gateway = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "gw" },
    spec: {
      gatewayClassName: "gwc",
      listeners: tables.flatMap(({ listeners }, table) =>
        listeners.map(({ hostname }, index) => ({
          name: `t${table}-l${index}`,
          port: ports[table],
          protocol: "HTTP",
          ...(hostname === undefined ? {} : { hostname }),
        })),
      ),
    },
  };
  const routes = tables.flatMap(({ listeners }, table) =>
    listeners.flatMap(({ hostname, routes: own }, index) =>
      own
        .filter((route) =>
          (route.isShared ? listeners : [{ hostname }]).some(
            (each) => namesWithin(route, each.hostname) !== undefined,
          ),
        )
        .map((route) => ({
          ...httpRoute(table, route),
          spec: {
            parentRefs: [
              {
                name: "gw",
                ...(route.isShared
                  ? { port: ports[table] }
                  : { sectionName: `t${table}-l${index}` }),
              },
            ],
            ...routeSpec(table, route),
          },
        })),
    ),
  );
  // The order of documents means nothing.
  return [gateway, ...routes.toReversed()].map((each) => JSON.stringify(each)).join("\n---\n");
}

function httpRoute(table: number, { id, age }: TableRoute): object {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: `t${table}-${id}`, creationTimestamp: `2026-01-0${age + 1}T00:00:00Z` },
  };
}

function routeSpec(table: number, { id, hostnames, matches }: TableRoute): object {
  return {
    ...(hostnames.length === 0 ? {} : { hostnames }),
    rules: [
      {
        ...(matches.length === 0 ? {} : { matches: matches.map(clusterMatch) }),
        filters: [
          { type: "RequestRedirect", requestRedirect: { hostname: `${id}.t${table}.test` } },
        ],
      },
    ],
  };
}

function clusterMatch({ path, method, headers, query }: TableMatch): object {
  const kinds = { exact: "Exact", prefix: "PathPrefix", regex: "RegularExpression" } as const;
  const values = (list: readonly TableValue[]) =>
    list.map(({ name, kind, value }) => ({ type: kinds[kind], name, value }));
  return {
    ...(path === undefined ? {} : { path: { type: kinds[path.kind], value: path.value } }),
    ...(method === undefined ? {} : { method }),
    ...(headers.length === 0 ? {} : { headers: values(headers) }),
    ...(query.length === 0 ? {} : { queryParams: values(query) }),
  };
}
