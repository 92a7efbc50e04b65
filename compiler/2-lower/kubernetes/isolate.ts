import { resourceKind } from "../../1-parse/kubernetes/kinds.ts";
import { checkPattern } from "../../cel/regex/check-pattern.ts";
import { ANYTHING, coveringPattern } from "../../cel/regex/covering-pattern.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type {
  GatewayResources,
  ListenerResource,
  MatchConfig,
  Resource,
  RouteResource,
  TcpRouteResource,
} from "../../config/resources.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostic,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf } from "../../manifests/manifests.ts";
import type { ValueMatchConfig } from "../../model/matches.ts";
import { unresolved } from "./backends/backends.ts";
import type { KubernetesModel } from "./gateway/gateways.ts";
import { namedParameters } from "./gateway/parameters.ts";

/**
 * The resources of a Gateway with what has mistakes made harmless, so that the rest can be served: a rule with mistakes,
 * or with a policy or backend that has some, is answered 500 where it stands (its requests fall through to no other
 * rule); of several backends those that are not there are refused their share; a listener with mistakes is left out. Undefined when the mistakes are the Gateway's own.
 */
export function isolated(
  { name, resources }: GatewayResources,
  kubernetes: KubernetesModel,
  errors: readonly Diagnostic[],
): GatewayResources | undefined {
  const faults = new Faults(
    kubernetes,
    errors.filter((each) => !isIdleTls(each)),
  );
  const gateway = resources.find((resource) => resource.kind === "gateway");
  const title = gateway?.origin.resource?.name ?? "";
  if (gateway === undefined || faults.isBrokenGateway(title)) return undefined;
  const listeners = gateway.listeners.filter(
    (each) => !faults.isIn(each) && !lacksAuthorities(each),
  );
  const keys = new Set(listeners.map(({ key }) => key));
  const closed = listeners.filter((each) => faults.hasBrokenPolicies(each));
  const closedKeys = new Set(closed.map(({ key }) => key));
  const routes = resources.flatMap((route): readonly Resource[] => {
    if (route.kind === "gateway") return [];
    const own = route.listeners.filter(({ listener }) => keys.has(listener));
    if (own.length === 0) return [];
    const kept = { ...route, listeners: own, isPartial: faults.lacksMatches(route) };
    const lost = route.backends.filter((each) => faults.isLost(each));
    const isAllLost = lost.length > 0 && lost.length === route.backends.length;
    const isClosed = own.some(({ listener }) => closedKeys.has(listener));
    if (isAllLost || isClosed || faults.isBrokenRoute(route)) {
      const matches = route.kind === "route" ? faults.readableMatches(route) : [];
      return [shutRoute(kept.kind === "route" ? { ...kept, matches } : kept)];
    }
    const backends = route.backends.map((each) => (lost.includes(each) ? refused(each) : each));
    return [{ ...kept, backends }];
  });
  // Nothing is asked before routing what has mistakes: the routes behind it serve nobody.
  const served = listeners.map((each) =>
    closed.includes(each) ? { ...each, policies: [] } : each,
  );
  return { name, resources: [{ ...gateway, listeners: served }, ...routes] };
}

/** Whether a mistake is TLS of a Gateway that nothing of it uses: its status says so, and nothing else follows from it. */
function isIdleTls({ code, at }: Diagnostic): boolean {
  const [spec, field] = at.path.slice(at.resource?.depth ?? 0);
  const isOfGateway = at.resource?.name.startsWith("Gateway ") === true;
  return code === "misplaced-field" && isOfGateway && spec === "spec" && field === "tls";
}

/** Whether no authority of a listener's client certificates can be read: without one it would trust nobody, or everybody. */
function lacksAuthorities({ tls }: ListenerResource): boolean {
  return tls?.clients?.authorities.length === 0;
}

/**
 * Whether a mistake of a Gateway is about what `tls` refers to, which says nothing of its other parts: authorities of client
 * certificates, or the certificate that backends are shown.
 */
function isTlsReference(path: ConfigPath): boolean {
  return isBelow(path, ["spec", "tls", "frontend"])
    ? path.includes("caCertificateRefs")
    : isClientCertificate(path);
}

/** Whether a mistake of a Gateway is about the certificate that it shows to backends. */
function isClientCertificate(path: ConfigPath): boolean {
  const [spec, field] = path;
  return (
    spec === "spec" &&
    (field === "tls" || field === "backendTLS") &&
    path.includes("clientCertificateRef")
  );
}

/** A rule without its policies and backends, which answers each of its requests with 500. */
export function shutRoute<Route extends RouteResource | TcpRouteResource>(route: Route): Route {
  return { ...route, policies: [], backends: [none(route)] };
}

/** Stands for the backends of a rule with mistakes: no request goes to it. */
function none({
  origin,
}: Pick<RouteResource | TcpRouteResource, "origin">): RouteResource["backends"][number] {
  return { ...unresolved(origin), weight: 0 };
}

/** Stands for a backend with mistakes beside others: nothing of it is asked, and its share of the requests gets 500. */
function refused({ origin, weight }: RouteResource["backends"][number]) {
  return {
    ...unresolved(origin),
    ...(weight !== undefined && { weight }),
    isRefused: true as const,
  };
}

type TargetingPolicy = ManifestOf<"GatewayPolicy" | "BackendTLSPolicy">;

/** Which parts of manifests have mistakes. */
class Faults {
  readonly #kubernetes: KubernetesModel;
  /** Paths from a resource's root, by the resource's name. */
  readonly #paths: ReadonlyMap<string, readonly ConfigPath[]>;
  readonly #policies: readonly TargetingPolicy[];

  constructor(kubernetes: KubernetesModel, errors: readonly Diagnostic[]) {
    this.#kubernetes = kubernetes;
    const byName = Map.groupBy(errors, ({ at }) => at.resource?.name ?? "");
    this.#paths = new Map(
      [...byName].map(([name, found]) => [
        name,
        found.map(({ at }) => at.path.slice(at.resource?.depth ?? 0)),
      ]),
    );
    const { inventory } = kubernetes;
    this.#policies = [
      ...inventory.all("GatewayPolicy"),
      ...inventory.all("BackendTLSPolicy"),
    ].filter((policy) => this.#has(policy));
  }

  /** Mistakes of a Gateway that are no listener's; those of its parameters are its own. */
  isBrokenGateway(name: string): boolean {
    const own = this.#paths.get(name) ?? [];
    const isElsewhere = (path: ConfigPath) =>
      isListener(path) || isTlsReference(path) || isAddressValue(path);
    if (!own.every(isElsewhere)) return true;
    const manifest = this.#kubernetes.gateways.find(
      (each) => each.manifest.origin.resource?.name === name,
    )?.manifest;
    if (manifest === undefined) return false;
    const { inventory } = this.#kubernetes;
    const found = inventory.find("GatewayClass", "", manifest.spec?.gatewayClassName ?? "");
    const parameters = namedParameters(manifest, inventory);
    return [found ?? [], ...parameters].flat().some((each) => this.#has(each));
  }

  /** Whether a mistake is at a place, or below it. */
  isIn({ origin }: Pick<ListenerResource, "origin">): boolean {
    const path = origin.path.slice(origin.resource?.depth ?? 0);
    return (this.#paths.get(origin.resource?.name ?? "") ?? []).some((each) => isBelow(each, path));
  }

  /**
   * The matches of a closed rule, without mistakes. A pattern that does not compile becomes one that covers whatever it could
   * have matched, so that no request of the rule reaches a broader one. A match that no request can have is left out.
   */
  readableMatches({ matches }: RouteResource): readonly MatchConfig[] {
    return matches.flatMap((match) => {
      const { path, origin } = match;
      const readable = {
        ...match,
        headers: match.headers.map((each) => this.#readableValue(each)),
        query: match.query.map((each) => this.#readableValue(each)),
      };
      if (!this.isIn({ origin: childOf(origin, "path") })) return [readable];
      const { value, parts = [] } = path;
      const compiles = [...parts, value].every((each) => checkPattern(each).length === 0);
      if (path.kind !== "regex" || compiles) return [];
      return [{ ...readable, path: { kind: path.kind, value: coveringPattern(value) } }];
    });
  }

  #readableValue(condition: ValueMatchConfig): ValueMatchConfig {
    return this.isIn(condition) ? { ...condition, value: ANYTHING } : condition;
  }

  /** What happens before routing, or what is asked then, has mistakes. */
  hasBrokenPolicies({ policies }: ListenerResource): boolean {
    const names = resourcesOf(policies);
    return (
      [...names].some((each) => this.#breaksUsers(each)) ||
      this.#policies.some((policy) => this.#mayTarget(policy, names))
    );
  }

  /** Which requests the rule is about is not known for certain: it can answer none. */
  lacksMatches(route: RouteResource | TcpRouteResource): boolean {
    return [route.origin, ...wayOf(route)].some((rule) => {
      const manifest = this.#manifestOf(rule);
      return manifest !== undefined && isPartial(childOf(rule, "matches"), manifest);
    });
  }

  isBrokenRoute(route: RouteResource | TcpRouteResource): boolean {
    const manifest = this.#manifestOf(route.origin);
    if (manifest === undefined) return false;
    const way = wayOf(route);
    const routes = [manifest, ...way.flatMap((each) => this.#manifestOf(each) ?? [])];
    return (
      this.#isBrokenRule(route.origin, sharesRequests(route)) ||
      // What a rule hands on is refused with it.
      way.some((each) => this.#isBrokenRule(each, false)) ||
      [...resourcesOf([route.policies, route.backends])].some(
        (each) => each !== route.origin.resource?.name && this.#breaksUsers(each),
      ) ||
      this.#policies.some((policy) => routes.some((each) => this.#isAbout(policy, each, route)))
    );
  }

  /** `mayLackBackend`: a backend that is missing has its share refused, and breaks nothing else. */
  #isBrokenRule({ resource, path }: Origin, mayLackBackend: boolean): boolean {
    const rule = path.slice(resource?.depth ?? 0);
    return (this.#paths.get(resource?.name ?? "") ?? []).some((each) =>
      isBelow(each, rule)
        ? !((mayLackBackend && isReference(each, rule)) || isMirrorReference(each, rule))
        : !ELSEWHERE.has(String(each[1])),
    );
  }

  /** What a reference of a rule leads to is not there, or may not be referred to. */
  isLost({ origin }: RouteResource["backends"][number]): boolean {
    const { resource } = origin;
    const place = origin.path.slice(resource?.depth ?? 0);
    return (this.#paths.get(resource?.name ?? "") ?? []).some(
      (each) => isBelow(each, place) && isReference(each, place.slice(0, 3)),
    );
  }

  /** Whether a resource has mistakes that keep what uses it from being served. */
  #breaksUsers(name: string): boolean {
    const own = this.#paths.get(name) ?? [];
    // Nothing but its certificate is used of a Gateway.
    return name.startsWith("Gateway ") ? own.some(isClientCertificate) : own.length > 0;
  }

  #has({ origin }: Manifest): boolean {
    return this.#paths.has(origin.resource?.name ?? "");
  }

  /** The route that a rule belongs to. */
  #manifestOf({ resource }: Origin): Manifest | undefined {
    const attachment = this.#kubernetes.attachments.find(
      ({ route }) => route.origin.resource?.name === resource?.name,
    );
    return attachment?.route;
  }

  #hasListener(kind: string, namespace: string, name: string, section: string): boolean {
    if (kind !== "Gateway" && kind !== "ListenerSet") return false;
    const { spec } = this.#kubernetes.inventory.find(kind, namespace, name) ?? {};
    return (spec?.listeners ?? []).some((listener) => listener?.name === section);
  }

  /** Whether a policy with mistakes may be about a route, or a server that is asked there: what it would have refused must not pass. */
  #isAbout(
    policy: TargetingPolicy,
    route: Manifest,
    { policies, backends }: RouteResource | TcpRouteResource,
  ): boolean {
    const owners = this.#kubernetes.attachments
      .filter((each) => each.route === route)
      .flatMap(({ listener }) => {
        const { gateway, owner, spec } = listener;
        const titles = [gateway, owner].map(({ origin }) => origin.resource?.name ?? "");
        return [...titles, ...titles.map((title) => sectionTitle(title, spec.name))];
      });
    const services = [...(JSON.stringify(backends).match(SERVICE_HOST) ?? [])].map((host) => {
      const [name = "", of = ""] = host.split(".");
      return titleOfTarget("Service", of, name);
    });
    const own = [route.origin.resource?.name ?? "", ...owners];
    const names = new Set([...own, ...services, ...resourcesOf([policies, backends])]);
    return this.#mayTarget(policy, names);
  }

  /** Whether a policy with mistakes is about one of the resources; what can't be read may be about any of its namespace. */
  #mayTarget({ kind, spec, namespace }: TargetingPolicy, names: ReadonlySet<string>): boolean {
    if (spec === undefined) {
      const isOfServers = kind === "BackendTLSPolicy";
      return [...names].some(
        (each) => each.includes(` ${namespace}/`) && !(isOfServers && NO_SERVER.test(each)),
      );
    }
    const selectors =
      kind === "GatewayPolicy" && "targetSelectors" in spec ? spec.targetSelectors : [];
    const { inventory } = this.#kubernetes;
    const targets = [
      ...(spec.targetRefs ?? []).map(({ group, kind: target, name, sectionName }) => {
        const known = resourceKind(group, target) ?? target;
        const title = titleOfTarget(known, namespace, name);
        // Of a route, as of what it leads to, all is taken for one.
        // A listener that is not there may be any of them under another name.
        const isListener =
          sectionName != null && this.#hasListener(known, namespace, name, sectionName);
        return isListener ? sectionTitle(title, sectionName) : title;
      }),
      ...(selectors ?? []).flatMap(({ group, kind: target, matchLabels }) => {
        const known = resourceKind(group, target);
        if (known === undefined) return [];
        return inventory
          .withLabels(known, namespace, matchLabels)
          .map(({ name }) => titleOfTarget(known, namespace, name));
      }),
    ];
    return targets.some((each) => names.has(each));
  }
}

/** The rules that hand a route its requests. */
function wayOf(route: RouteResource | TcpRouteResource): readonly Origin[] {
  return route.kind === "route" ? (route.way ?? []) : [];
}

/** Whether requests go to several backends, of which some may be missing. */
function sharesRequests({ kind, backends }: RouteResource | TcpRouteResource): boolean {
  return kind === "route" && backends.length > 1;
}

/** Whether a mistake of a rule is about what one of its `backendRefs` leads to. */
function isReference(path: ConfigPath, rule: ConfigPath): boolean {
  const [field, index, part, ...rest] = path.slice(rule.length);
  return (
    field === "backendRefs" &&
    index !== undefined &&
    rest.length === 0 &&
    REFERENCE_PARTS.some((name) => name === part)
  );
}

/** Whether a mistake of a rule is about what a mirror's reference leads to: Gateway API sends no copies then, and serves. */
function isMirrorReference(path: ConfigPath, rule: ConfigPath): boolean {
  const [filters, , mirror, field, part, ...rest] = path.slice(rule.length);
  return (
    filters === "filters" &&
    mirror === "requestMirror" &&
    field === "backendRef" &&
    rest.length === 0 &&
    REFERENCE_PARTS.some((name) => name === part)
  );
}

const REFERENCE_PARTS = [undefined, "name", "namespace", "group", "kind", "port"];

/** Fields of a route with mistakes that keep it from attaching somewhere, and say nothing of its rules. */
const ELSEWHERE: ReadonlySet<string> = new Set(["parentRefs", "hostnames", "rules", "undefined"]);

/** Resources that no BackendTLSPolicy is about, nor is what they lead to in their namespace. */
const NO_SERVER = /^(?:Gateway|ListenerSet|GatewayPolicy) /;

/** The name of a Service and its namespace, in a host. */
const SERVICE_HOST = /[a-z0-9-]+\.[a-z0-9-]+(?=\.svc\.)/g;

function titleOfTarget(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}

/** A listener of a resource. */
function sectionTitle(title: string, section: string): string {
  return `${title}#${section}`;
}

function isListener([spec, field]: ConfigPath): boolean {
  return spec === "spec" && field === "listeners";
}

/** Without one of its addresses a Gateway is served at the others. */
function isAddressValue([spec, field, , part]: ConfigPath): boolean {
  return spec === "spec" && field === "addresses" && part === "value";
}

function isBelow(path: ConfigPath, place: ConfigPath): boolean {
  return place.every((step, index) => path[index] === step);
}

/** The names of the resources that any part of a value comes from. */
function resourcesOf(value: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value !== "object" || value === null) return found;
  const resource: unknown = Reflect.get(value, "resource");
  if (typeof resource === "object" && resource !== null) {
    const name: unknown = Reflect.get(resource, "name");
    if (typeof name === "string") found.add(name);
  }
  const parts = value instanceof Map ? [...value.values()] : Object.values(value);
  for (const part of parts) resourcesOf(part, found);
  return found;
}
