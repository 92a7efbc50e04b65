import { type BackendKind, backendOf } from "../backends/index.ts";
import { CREDENTIALS, curlCommand, type TryRequest } from "../backends/parts/try-request.ts";
import { policiesBefore } from "../ir/access.ts";
import type { BackendNode } from "../ir/backends.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { HostEntries, ListenerNode, Program, RouteEntry, RouteNode } from "../ir/program.ts";

/** A request that reaches a route. */
export interface RouteRequest {
  readonly request: TryRequest;
  readonly listener: ListenerNode;
  readonly route: RouteNode;
}

/**
 * Returns a shell command that tries the gateway: for the route that needs the least besides its path, with the host,
 * headers and credentials that it needs. `undefined` if the configuration does not determine a request.
 */
export function tryCommand(program: Program): string | undefined {
  const candidates = requestsTo(program, isStrict);
  const [simplest] = candidates.toSorted((a, b) => needs(a.request) - needs(b.request));
  return simplest && commandOf(simplest.route.backends[0], simplest.request);
}

/** A request for each match of each route, with the credentials of the policies that `shows` says. */
export function requestsTo(
  program: Program,
  shows: (policy: PolicyUse) => boolean,
): readonly RouteRequest[] {
  return program.binds.flatMap(({ port, tls, listeners }) =>
    listeners.flatMap((listener) =>
      (listener.handshake ?? tls)?.clients?.mode === "required"
        ? []
        : candidatesOf(listener, port, shows),
    ),
  );
}

function isStrict({ settings }: PolicyUse): boolean {
  return !("mode" in settings) || settings.mode === "strict";
}

function needs({ headers, options, search, method }: TryRequest): number {
  return headers.length + options.length + (search === "" ? 0 : 1) + (method === undefined ? 0 : 1);
}

function commandOf<Kind extends BackendKind>(
  node: BackendNode<Kind> | undefined,
  request: TryRequest,
): string {
  if (node === undefined) return curlCommand(request);
  return backendOf<Kind>(node.kind).tryCommand(request, node);
}

function candidatesOf(
  listener: ListenerNode,
  port: number,
  shows: (policy: PolicyUse) => boolean,
): readonly RouteRequest[] {
  return listener.table.flatMap((host) =>
    host.entries.flatMap((entry) => {
      const route = listener.routes.find(({ id }) => id === entry.route);
      const policies = [...policiesBefore(listener), ...(route?.policies ?? [])];
      const credentials = policies.filter(shows).map(credential);
      const request = requestOf(listener, host, entry, credentials, port, hostIn(policies));
      return route === undefined || request === undefined ? [] : [{ route, listener, request }];
    }),
  );
}

function requestOf(
  listener: ListenerNode,
  { shared }: HostEntries,
  { match }: RouteEntry,
  credentials: readonly Credential[],
  port: number,
  namedHost: string | undefined,
): TryRequest | undefined {
  const { path, method, headers, query, isDerived } = match;
  if (isDerived || path.kind === "regex") return undefined;
  if ([...headers, ...query].some(({ value }) => value.kind === "regex")) return undefined;
  const search = [
    ...query.map(
      ({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value.value)}`,
    ),
    ...credentials.flatMap(({ query: parameter }) => parameter ?? []),
  ].join("&");
  const { origin, host, options } = addressOf(listener, shared, port);
  return {
    origin,
    path,
    search: search === "" ? "" : `?${search}`,
    method,
    headers: [
      ...host,
      ...headers.map(({ name, value }) => `${name}: ${value.value}`),
      ...credentials.flatMap(({ header }) => header ?? []),
    ],
    options,
    ...(namedHost !== undefined && { namedHost }),
  };
}

/** Returns the first host that an allow rule of policies compares with the request's, as in `request.host == "a.example"`. */
function hostIn(policies: readonly PolicyUse[]): string | undefined {
  const rules = policies.flatMap(({ settings }) => ("rules" in settings ? settings.rules : []));
  const texts = rules.flatMap((rule) =>
    "text" in rule && rule.action !== "deny" && rule.text.includes("request.host")
      ? [rule.text]
      : [],
  );
  const hosts = texts.flatMap((text) => text.match(/(?<=["'])[\w-]+(?:\.[\w-]+)+(?=["'])/g) ?? []);
  return hosts[0];
}

/** How a host of a listener is reached from this machine: TLS needs the name itself, plain HTTP a header. */
function addressOf(
  { tls }: ListenerNode,
  shared: string,
  port: number,
): Pick<TryRequest, "origin" | "options"> & { readonly host: readonly string[] } {
  const hostname = shared === "*" ? undefined : shared.replace(/^\*\./, "www.");
  if (tls === undefined) {
    const host = hostname === undefined ? [] : [`host: ${hostname}`];
    return { origin: `http://127.0.0.1:${port}`, host, options: [] };
  }
  const resolved = hostname === undefined ? [] : ["--resolve", `${hostname}:${port}:127.0.0.1`];
  const origin = `https://${hostname ?? "localhost"}:${port}`;
  return { origin, host: [], options: ["-k", ...resolved] };
}

/** The credential that a policy expects from its caller. */
interface Credential {
  readonly header?: string;
  readonly query?: string;
}

function credential({ kind, settings }: PolicyUse): Credential {
  const variable = VARIABLES[kind];
  if (variable === undefined) return {};
  const location = "location" in settings ? settings.location : undefined;
  if (location === undefined) return { header: `authorization: Bearer ${variable}` };
  if ("header" in location) return { header: `${location.header}: ${location.prefix}${variable}` };
  if ("cookie" in location) return { header: `cookie: ${location.cookie}=${variable}` };
  if ("queryParameter" in location) return { query: `${location.queryParameter}=${variable}` };
  return {};
}

const VARIABLES: Partial<Record<PolicyUse["kind"], string>> = {
  mcpAuthentication: CREDENTIALS.token,
  jwtAuth: CREDENTIALS.token,
  basicAuth: CREDENTIALS.password,
  apiKey: CREDENTIALS.key,
};
