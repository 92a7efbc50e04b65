import { compilePattern } from "../cel/pattern.ts";
import { below, keyOf, type Origin } from "../diagnostics.ts";
import type { BackendNode, ExpressionCode, RouteMatch, RouteNode, ValueMatch } from "../ir.ts";
import type {
  ListenerResource,
  MatchConfig,
  PolicyConfig,
  RouteResource,
  ValueMatchConfig,
} from "../resources.ts";
import { resolveBackend } from "./backends.ts";
import { intersectHostnames } from "./hostnames.ts";
import type { ListenerContext } from "./listeners.ts";
import { metadataMatches } from "./metadata-matches.ts";
import type { Names } from "./names.ts";
import { type PolicyPlace, reachedPolicies, resolvePolicies } from "./policies.ts";
import type { TableRoute } from "./table.ts";

/** What resolving routes shares. */
export interface RouteContext extends ListenerContext {
  readonly names: Names;
}

/** A route within one of its listeners; undefined when nothing of it could be resolved (reported). */
export function resolveRoute(
  resource: RouteResource,
  listener: ListenerResource,
  context: RouteContext,
): TableRoute | undefined {
  const { origin } = resource;
  const name = resource.name ?? routeName(resource);
  const hostnames = resolveHostnames(resource, listener, context);
  const matches = resource.matches.flatMap((match) => resolveMatch(match, context) ?? []);
  const { policies, answer } = reachedPolicies(resource.policies, resource.backends, context);
  if (resource.backends.length === 0 && answer === undefined) {
    context.diagnostics.report("route-without-backend", origin, { route: name });
  }
  const backends = resource.backends.flatMap((backend) => resolveBackend(backend, context) ?? []);
  checkShares(resource, context);
  checkPassthrough(backends, context);
  const route: RouteNode = {
    id: context.names.take(...(resource.ids ?? [name])),
    name,
    policies: resolvePolicies(policies, routeFacts(resource, policies, listener), context),
    backends: answer === undefined ? backends : [],
    origin,
  };
  if (hostnames.length === 0 || matches.length === 0) return undefined;
  return { route, hostnames, matches: [...matches, ...metadataMatches(route, matches)] };
}

/** A route without a name is called after its first path, or its first host name. */
function routeName({ matches, hostnames }: RouteResource): string {
  const path = matches[0]?.path.value.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
  if (path !== undefined && path !== "") return path;
  return hostnames[0] ?? "root";
}

function resolveHostnames(
  { hostnames, origin }: RouteResource,
  listener: ListenerResource,
  { diagnostics }: RouteContext,
): readonly string[] {
  if (hostnames.length === 0) return ["*"];
  return hostnames.flatMap((hostname, index) => {
    const both = intersectHostnames(hostname, listener.hostname);
    if (both !== undefined) return [both];
    const at = below(origin, "hostnames", index);
    diagnostics.report("hostname-mismatch", at, { hostname, listener: listener.hostname });
    return [];
  });
}

function resolveMatch(match: MatchConfig, context: RouteContext): RouteMatch | undefined {
  const headers = match.headers.map((each) => resolveValue(each, "header", context));
  const query = match.query.map((each) => resolveValue(each, "query", context));
  const { kind, value } = match.path;
  let path: RouteMatch["path"];
  if (kind === "regex") {
    const test = resolvePattern(value, "path", below(match.origin, "path", "regex"), context);
    if (test === undefined) return undefined;
    path = { kind, value, test };
  } else {
    path = { kind, value: kind === "prefix" ? trimmedPrefix(value) : value };
  }
  const isComplete = [...headers, ...query].every((each) => each !== undefined);
  if (!isComplete) return undefined;
  const known = (each: ValueMatch | undefined): readonly ValueMatch[] =>
    each === undefined ? [] : [each];
  return {
    path,
    method: match.method,
    headers: headers.flatMap(known),
    query: query.flatMap(known),
    isDerived: false,
    origin: match.origin,
  };
}

/** Gateway API: a trailing slash of a prefix means nothing. */
function trimmedPrefix(prefix: string): string {
  return prefix.replace(/\/+$/, "") || "/";
}

function resolveValue(
  { name, kind, value, origin }: ValueMatchConfig,
  subject: string,
  context: RouteContext,
): ValueMatch | undefined {
  if (kind === "exact") return { name, value: { kind, value } };
  const test = resolvePattern(value, subject, origin, context);
  return test === undefined ? undefined : { name, value: { kind, value, test } };
}

function resolvePattern(
  pattern: string,
  subject: string,
  origin: Origin,
  { diagnostics }: RouteContext,
): ExpressionCode | undefined {
  const { code, problems } = compilePattern(pattern, { subject, match: "full" });
  for (const { within, ...problem } of problems) {
    diagnostics.add({ ...problem, at: { ...origin, within } });
  }
  return code;
}

/** Several backends are plain HTTP ones, and one of them has a share. */
function checkShares({ backends }: RouteResource, { diagnostics }: RouteContext): void {
  const [first] = backends;
  if (first === undefined) return;
  const mcp = backends.length === 1 ? undefined : backends.find(({ kind }) => kind === "mcp");
  if (mcp !== undefined) diagnostics.report("several-backends", keyOf(mcp.origin), {});
  if (backends.every(({ weight }) => weight === 0)) {
    diagnostics.report("no-weight", keyOf(first.origin), {});
  }
}

/** The client's token is put back for all backends of a route or for none. */
function checkPassthrough(backends: readonly BackendNode[], { diagnostics }: RouteContext): void {
  const hosts = backends.flatMap((each) => (each.kind === "host" ? [each] : []));
  const [first] = hosts;
  const other = hosts.find(
    ({ connection }) => connection.isPassthrough !== first?.connection.isPassthrough,
  );
  if (other !== undefined) diagnostics.report("mixed-passthrough", other.origin, {});
}

/** What policies may know of the route that carries them. */
function routeFacts(
  { matches, backends }: RouteResource,
  policies: readonly PolicyConfig[],
  listener: ListenerResource,
): PolicyPlace {
  const paths = matches.map(({ path }) => path);
  return {
    phase: "PostRouting",
    route: {
      isMcp: backends.some((backend) => backend.kind === "mcp"),
      policies: [...listener.policies, ...policies].map(({ kind }) => kind),
      prefixes: paths.every(({ kind }) => kind === "prefix")
        ? [...new Set(paths.map(({ value }) => trimmedPrefix(value)))]
        : undefined,
    },
  };
}
