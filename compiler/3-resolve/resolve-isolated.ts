import { isolated, shutRoute } from "../2-lower/kubernetes/isolate.ts";
import type { Lowered } from "../2-lower/lower.ts";
import { CachedByObjects } from "../cached-results.ts";
import { defaultFrontend } from "../config/frontend.ts";
import type {
  GatewayResource,
  GatewayResources,
  Resource,
  RouteResource,
  TcpRouteResource,
} from "../config/resources.ts";
import { type Diagnostic, Diagnostics, isError, type Origin } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host.ts";
import type { Program } from "../ir/program.ts";
import type { CachedResolutions } from "./cached-resolutions.ts";
import { type Resolved, type ResolveInput, resolve } from "./resolve.ts";

/** A part of a Gateway that is closed although no diagnostic was attributed to it. */
export interface ClosedPart {
  /** Location of the rule, the listener or the Gateway. */
  readonly origin: Origin;
  /** Mistake that prevents resolving it; `undefined` if a bug of gwc reported none. */
  readonly mistake: Diagnostic | undefined;
}

/** The gateways that can be served, with their closed parts. */
export interface ResolvedIsolated extends Omit<Resolved, "inlined"> {
  readonly closed: readonly ClosedPart[];
}

/** The same, with the errors of gwc that isolating them has found. */
interface Isolated extends ResolvedIsolated {
  readonly bugs: readonly Diagnostic[];
}

/** Maximum number of rounds in which newly found mistakes are isolated; after that, parts are tried one by one. */
const MAX_ROUNDS = 8;

/**
 * Resolves each Gateway without its parts that have mistakes, and always ends with a program. If a mistake cannot
 * be attributed to a rule, it closes the rules that cannot be resolved alone, then the listeners, then the whole
 * Gateway. A Gateway whose own resource has mistakes has no program. The same is done where no code can be written.
 */
export function resolveIsolated(
  { gateways, kubernetes }: Lowered,
  found: readonly Diagnostic[],
  input: ResolveInput,
  host: Host,
  { unwritable = () => [], cache }: IsolationSettings = {},
): Isolated {
  const bugs = new Diagnostics();
  const settings = { bugs, variants: cache?.variants ?? new CachedByObjects() };
  const attempt = (declared: GatewayResources): Attempt => {
    const tried = attemptToResolve(declared, input, host, cache);
    const problems = (tried.value?.programs ?? []).flatMap((each) => unwritable(each));
    return problems.length === 0 ? tried : { value: undefined, problems, isUnwritable: true };
  };
  const results = gateways.flatMap((declared): readonly ResolvedIsolated[] => {
    let errors = found;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const left = kubernetes && isolated(declared, kubernetes, errors, settings);
      if (left === undefined) return [];
      const { value, problems, isUnwritable } = attempt(left);
      if (value !== undefined) return [{ ...value, closed: [] }];
      if (isUnwritable === true) return [resolveByParts(left, attempt)];
      const known = new Set(errors.map(keyOf));
      const fresh = problems.filter((each) => !known.has(keyOf(each)));
      if (fresh.length === 0) return [resolveByParts(left, attempt)];
      errors = [...errors, ...fresh];
    }
    return [resolveByParts(declared, attempt)];
  });
  return {
    programs: results.flatMap(({ programs }) => programs),
    literals: results.flatMap(({ literals }) => literals),
    closed: results.flatMap(({ closed }) => closed),
    bugs: bugs.list,
  };
}

/** Returns the bugs of gwc that prevent writing the code of a program; empty if it can be written. */
export type Unwritable = (program: Program) => readonly Diagnostic[];

/** Settings of isolation. */
export interface IsolationSettings {
  /** By default, the code of all programs can be written. */
  readonly unwritable?: Unwritable | undefined;
  /** Cached routes of the compilations before. */
  readonly cache?: CachedResolutions | undefined;
}

/** The resolved Gateway, or its mistakes. */
interface Attempt {
  readonly value: Resolved | undefined;
  readonly problems: readonly Diagnostic[];
  /** Set if it was resolved, but its code cannot be written. */
  readonly isUnwritable?: boolean;
}

type Attempting = (declared: GatewayResources) => Attempt;

function attemptToResolve(
  declared: GatewayResources,
  input: ResolveInput,
  host: Host,
  cache: CachedResolutions | undefined,
): Attempt {
  const { value, diagnostics } = resolve(
    { gateways: [declared], unserved: NOTHING_UNSERVED },
    input,
    host,
    cache,
  );
  const problems = diagnostics.filter((each) => isError(each, false));
  return { value: problems.length === 0 ? value : undefined, problems };
}

const NOTHING_UNSERVED = { policies: [], backends: [], logLevels: [] };

/**
 * Closes the parts of a Gateway that cannot be resolved together with the others: first its settings, then
 * listeners, then rules, each in order. Of two parts that exclude each other, the first is served.
 */
function resolveByParts(
  { name, resources }: GatewayResources,
  attempt: Attempting,
): ResolvedIsolated {
  const gateway = resources.find((each) => each.kind === "gateway");
  if (gateway === undefined) return { programs: [], literals: [], closed: [] };
  const closed: ClosedPart[] = [];
  const tryWith = (whole: GatewayResource, own: readonly Resource[]): Attempt =>
    attempt({ name, resources: [whole, ...own] });

  const trySettings = (whole: GatewayResource) => tryWith({ ...whole, listeners: [] }, []);
  const observed = withTelemetry(gateway, trySettings, closed);
  const settings = trySettings(observed);
  const isBare = settings.value === undefined;
  const whole = isBare ? bareGateway(gateway) : observed;
  if (isBare) closed.push(closedBy(gateway.origin, settings));
  const listeners = largestPart(
    whole.listeners,
    (some) => tryWith({ ...whole, listeners: some }, []),
    (listener, alone) => {
      closed.push(closedBy(listener.origin, alone));
      return [];
    },
  );
  const base = { ...whole, listeners };
  const keys = new Set(listeners.map(({ key }) => key));
  const routes = resources.flatMap((each): readonly AnyRoute[] => {
    if (each.kind === "gateway") return [];
    const own = each.listeners.filter(({ listener }) => keys.has(listener));
    const attached = own.length === each.listeners.length ? each : { ...each, listeners: own };
    // A Gateway without its settings may lack the rules that protect its routes.
    return own.length === 0 ? [] : [isBare ? shutRoute(attached) : attached];
  });
  const parts = largestPart(
    routes,
    (some) => tryWith(base, some),
    (route, failed) => {
      closed.push(closedBy(route.origin, failed));
      return [shutRoute(route)];
    },
  );
  const { programs = [], literals = [] } = tryWith(base, parts).value ?? {};
  return { programs, literals, closed };
}

type AnyRoute = RouteResource | TcpRouteResource;

/**
 * Returns as many of the parts as can be resolved together, in order. `instead` returns a replacement for one that
 * cannot. Tries halves before single parts, because few parts are bad.
 */
function largestPart<Part>(
  parts: readonly Part[],
  tryAll: (parts: readonly Part[]) => Attempt,
  instead: (part: Part, failed: Attempt) => readonly Part[],
): readonly Part[] {
  const add = (taken: readonly Part[], more: readonly Part[]): readonly Part[] => {
    const all = [...taken, ...more];
    const attempt = tryAll(all);
    if (attempt.value !== undefined) return all;
    const [only] = more;
    if (only === undefined) return taken;
    if (more.length > 1) {
      const half = Math.ceil(more.length / 2);
      return add(add(taken, more.slice(0, half)), more.slice(half));
    }
    const replaced = [...taken, ...instead(only, attempt)];
    return tryAll(replaced).value === undefined ? taken : replaced;
  };
  return add([], parts);
}

/** A part of a Gateway that only reports requests. */
interface TelemetryPart {
  readonly origin: Origin;
  readonly addTo: (gateway: GatewayResource) => GatewayResource;
}

/** Leaves out access logs, labels of metrics and tracing that fail: requests are served without them. */
function withTelemetry(
  gateway: GatewayResource,
  attempt: (gateway: GatewayResource) => Attempt,
  closed: ClosedPart[],
): GatewayResource {
  const { accessLogs, tracing, frontend } = gateway;
  const { metricLabels } = frontend;
  const unlabelled = { ...frontend, metricLabels: [] };
  const silent = { ...gateway, frontend: unlabelled, accessLogs: [], tracing: undefined };
  // The other settings fail, whatever is left out here.
  if (attempt(silent).value === undefined) return gateway;
  const parts: readonly TelemetryPart[] = [
    ...accessLogs.map((log) => ({
      origin: log.origin,
      addTo: (to: GatewayResource) => ({ ...to, accessLogs: [...to.accessLogs, log] }),
    })),
    ...[tracing ?? []].flat().map((each) => ({
      origin: each.origin,
      addTo: (to: GatewayResource) => ({ ...to, tracing: each }),
    })),
    ...metricLabels.map((label) => ({
      origin: label.origin,
      addTo: (to: GatewayResource) => {
        const labels = [...to.frontend.metricLabels, label];
        return { ...to, frontend: { ...to.frontend, metricLabels: labels } };
      },
    })),
  ];
  const added = (some: readonly TelemetryPart[]) =>
    some.reduce<GatewayResource>((to, { addTo }) => addTo(to), silent);
  const kept = largestPart(
    parts,
    (some) => attempt(added(some)),
    ({ origin }, failed) => {
      closed.push(closedBy(origin, failed));
      return [];
    },
  );
  return added(kept);
}

/** Returns a Gateway with only its listeners, without policies. */
function bareGateway(gateway: GatewayResource): GatewayResource {
  return {
    ...gateway,
    frontend: defaultFrontend(gateway.origin),
    accessLogs: [],
    tracing: undefined,
    logLevels: [],
    listeners: gateway.listeners.map((each) => ({ ...each, policies: [] })),
  };
}

function closedBy(origin: Origin, { problems: [mistake] }: Attempt): ClosedPart {
  return { origin, mistake };
}

function keyOf({ code, at: { file, document, path, within } }: Diagnostic): string {
  return JSON.stringify([code, file, document, path, within]);
}
