import { resourceKind } from "../../1-parse/kubernetes/kinds.ts";
import { type BackendConfig, type BackendKind, backendOf } from "../../backends/index.ts";
import { checkPattern } from "../../cel/regex/check-pattern.ts";
import { ANYTHING, coveringPattern } from "../../cel/regex/covering-pattern.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type {
  ListenerResource,
  MatchConfig,
  RouteResource,
  TcpRouteResource,
} from "../../config/resources.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostic,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf, PossibleTarget } from "../../manifests/manifests.ts";
import type { ValueMatchConfig } from "../../model/matches.ts";
import type { KubernetesModel } from "./gateway/gateways.ts";
import { namedParameters } from "./gateway/parameters.ts";
import {
  isBackendReference,
  isBelow,
  isClientCertificate,
  isElsewhereInGateway,
  isElsewhereInRoute,
  isMirrorReference,
  isOfModel,
  isTelemetry,
} from "./mistake-places.ts";
import type { AnyRoute, Attachment } from "./routes/attach.ts";

type TargetingPolicy = ManifestOf<"GatewayPolicy" | "BackendTLSPolicy">;

/** The parts of manifests that have mistakes. */
export class Faults {
  readonly #kubernetes: KubernetesModel;
  /** Paths from a resource's root, by the resource's name. */
  readonly #paths: ReadonlyMap<string, readonly ConfigPath[]>;
  readonly #policies: readonly TargetingPolicy[];
  /** Targets of those policies that are readable. */
  readonly #targets: Map<TargetingPolicy, ReadonlySet<string>> = new Map();
  readonly #attachments: ReadonlyMap<AnyRoute, readonly Attachment[]>;
  /** Attached routes by their names. */
  readonly #routes: ReadonlyMap<string, AnyRoute>;

  constructor(kubernetes: KubernetesModel, errors: readonly Diagnostic[]) {
    this.#kubernetes = kubernetes;
    const byName = Map.groupBy(errors, ({ at }) => at.resource?.name ?? "");
    this.#paths = new Map(
      [...byName].map(([name, found]) => [
        name,
        found.map(({ at }) => at.path.slice(at.resource?.depth ?? 0)),
      ]),
    );
    const { inventory, attachments } = kubernetes;
    this.#attachments = Map.groupBy(attachments, ({ route }) => route);
    this.#routes = new Map(
      [...this.#attachments.keys()].map((route) => [route.origin.resource?.name ?? "", route]),
    );
    this.#policies = [
      ...inventory.all("GatewayPolicy"),
      ...inventory.all("BackendTLSPolicy"),
    ].filter((policy) => this.#has(policy) && !this.#isOnlyTelemetry(policy));
  }

  /** Whether a Gateway has mistakes other than those of its listeners; mistakes of its parameters count. */
  isBrokenGateway(name: string): boolean {
    const own = this.#paths.get(name) ?? [];
    if (!own.every(isElsewhereInGateway)) return true;
    const manifest = this.#kubernetes.gateways.find(
      (each) => each.manifest.origin.resource?.name === name,
    )?.manifest;
    if (manifest === undefined) return false;
    const { inventory } = this.#kubernetes;
    const found = inventory.find("GatewayClass", "", manifest.spec?.gatewayClassName ?? "");
    const parameters = namedParameters(manifest, inventory);
    return [found ?? [], ...parameters].flat().some((each) => this.#has(each));
  }

  /** Whether a mistake is at a location, or below it. */
  isIn({ origin }: Pick<ListenerResource, "origin">): boolean {
    const path = origin.path.slice(origin.resource?.depth ?? 0);
    return (this.#paths.get(origin.resource?.name ?? "") ?? []).some((each) => isBelow(each, path));
  }

  /**
   * Returns the matches of a closed rule without mistakes. A pattern that does not compile is replaced by one that
   * covers everything it could have matched, so that no request of the rule reaches a broader one. Omits matches
   * that no request can have.
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

  /** Returns a route whose GatewayModels with mistakes are refused alone; the same if it has none. */
  withoutBrokenModels<Route extends RouteResource | TcpRouteResource>(route: Route): Route {
    const isBroken = ({ resource }: Origin) =>
      resource?.name.startsWith("GatewayModel ") === true &&
      (this.#paths.get(resource.name) ?? []).some(isOfModel);
    const backends = route.backends.map((each) => withoutBroken(each, isBroken));
    const isSame = backends.every((each, index) => each === route.backends[index]);
    return isSame ? route : { ...route, backends };
  }

  /** Whether policies before routing, or the servers that they call, have mistakes. */
  hasBrokenPolicies({ policies }: ListenerResource): boolean {
    const names = resourcesOf(policies);
    return (
      [...names].some((each) => this.#breaksUsers(each)) ||
      this.#policies.some((policy) => this.#mayTarget(policy, names))
    );
  }

  /** Whether it is uncertain which requests the rule matches, so that it cannot answer any. */
  lacksMatches(route: RouteResource | TcpRouteResource): boolean {
    return [route.origin, ...wayOf(route)].some((rule) => {
      const manifest = this.#manifestOf(rule);
      return manifest !== undefined && isPartial(childOf(rule, "matches"), manifest);
    });
  }

  /** Whether a rule has mistakes; `reached`: its backends without those whose share is refused. */
  isBrokenRoute(
    route: RouteResource | TcpRouteResource,
    reached: (RouteResource | TcpRouteResource)["backends"],
  ): boolean {
    const manifest = this.#manifestOf(route.origin);
    if (manifest === undefined) return false;
    const way = wayOf(route);
    const routes = [manifest, ...way.flatMap((each) => this.#manifestOf(each) ?? [])];
    return (
      this.#isBrokenRule(route.origin, route.backends.length > 1) ||
      // Requests that a rule delegates are refused together with it.
      way.some((each) => this.#isBrokenRule(each, false)) ||
      [...resourcesOf([route.policies, reached])].some(
        (each) => each !== route.origin.resource?.name && this.#breaksUsers(each),
      ) ||
      (this.#policies.length > 0 && routes.some((each) => this.#hasBrokenPolicy(each, route)))
    );
  }

  /**
   * Whether a rule has mistakes. With `mayLackBackend`, missing backends do not count, because only their share is
   * refused.
   */
  #isBrokenRule({ resource, path }: Origin, mayLackBackend: boolean): boolean {
    const rule = path.slice(resource?.depth ?? 0);
    return (this.#paths.get(resource?.name ?? "") ?? []).some((each) =>
      isBelow(each, rule)
        ? !((mayLackBackend && isBackendReference(each, rule)) || isMirrorReference(each, rule))
        : !isElsewhereInRoute(each),
    );
  }

  /**
   * Whether the backend of a reference does not exist, the reference is not permitted, or it leads to a pool with
   * mistakes, which takes no policies along.
   */
  isLost({ origin }: RouteResource["backends"][number]): boolean {
    const { resource } = origin;
    const place = origin.path.slice(resource?.depth ?? 0);
    const isUnresolved = (this.#paths.get(resource?.name ?? "") ?? []).some(
      (each) => isBelow(each, place) && isBackendReference(each, place.slice(0, 3)),
    );
    const isPool = resource?.name.startsWith("InferencePool ") === true;
    return isUnresolved || (isPool && this.#paths.has(resource.name));
  }

  /** Whether a resource has mistakes that prevent its users from being served. */
  #breaksUsers(name: string): boolean {
    const own = this.#paths.get(name) ?? [];
    // Of a Gateway, others only use its certificate.
    if (name.startsWith("Gateway ")) return own.some(isClientCertificate);
    return name.startsWith("GatewayModel ") ? own.some(isOfModel) : own.length > 0;
  }

  /** Whether the mistakes of a policy only affect what is reported about requests; its other parts apply. */
  #isOnlyTelemetry({ origin, spec }: TargetingPolicy): boolean {
    if (spec === undefined) return false;
    return (this.#paths.get(origin.resource?.name ?? "") ?? []).every(isTelemetry);
  }

  #has({ origin }: Manifest): boolean {
    return this.#paths.has(origin.resource?.name ?? "");
  }

  /** Returns the route that a rule belongs to. */
  #manifestOf({ resource }: Origin): AnyRoute | undefined {
    return this.#routes.get(resource?.name ?? "");
  }

  #hasListener(kind: string, namespace: string, name: string, section: string): boolean {
    if (kind !== "Gateway" && kind !== "ListenerSet") return false;
    const { spec } = this.#kubernetes.inventory.find(kind, namespace, name) ?? {};
    return (spec?.listeners ?? []).some((listener) => listener?.name === section);
  }

  /**
   * Whether policies with mistakes may apply to a route, or to a server that is called there. Requests that they
   * would have refused must not pass.
   */
  #hasBrokenPolicy(
    route: AnyRoute,
    { policies, backends }: RouteResource | TcpRouteResource,
  ): boolean {
    const owners = (this.#attachments.get(route) ?? []).flatMap(({ listener }) => {
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
    return this.#policies.some((policy) => this.#mayTarget(policy, names));
  }

  /**
   * Whether a policy with mistakes may apply to one of the resources. An unreadable target may be anything of its
   * namespace that has what is known of it.
   */
  #mayTarget(policy: TargetingPolicy, names: ReadonlySet<string>): boolean {
    const { kind, spec, namespace, possibleTargets = [{}] } = policy;
    if (spec === undefined) {
      const isOfServers = kind === "BackendTLSPolicy";
      return [...names].some(
        (each) =>
          each.includes(` ${namespace}/`) &&
          !(isOfServers && NO_SERVER.test(each)) &&
          possibleTargets.some((target) => isPossibly(each, target)),
      );
    }
    const targets = this.#targets.get(policy) ?? new Set(this.#targetsOf(policy, spec));
    this.#targets.set(policy, targets);
    return [...targets].some((each) => names.has(each));
  }

  #targetsOf(
    { kind, namespace }: TargetingPolicy,
    spec: NonNullable<TargetingPolicy["spec"]>,
  ): readonly string[] {
    const selectors =
      kind === "GatewayPolicy" && "targetSelectors" in spec ? spec.targetSelectors : [];
    const { inventory } = this.#kubernetes;
    return [
      ...(spec.targetRefs ?? []).map(({ group, kind: target, name, sectionName }) => {
        const known = resourceKind(group, target) ?? target;
        const title = titleOfTarget(known, namespace, name);
        // Sections of routes and backends are ignored: the policy counts as one for the whole. So does one for a
        // missing listener, which may be any of them under another name.
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
  }
}

/** Returns the rules that delegate requests to a route. */
function wayOf(route: RouteResource | TcpRouteResource): readonly Origin[] {
  return route.kind === "route" ? (route.way ?? []) : [];
}

/** Resources to which no BackendTLSPolicy applies, nor to what they refer to in their namespace. */
const NO_SERVER = /^(?:Gateway|ListenerSet|GatewayPolicy) /;

/** Matches the name of a Service and its namespace in a host name. */
const SERVICE_HOST = /[a-z0-9-]+\.[a-z0-9-]+(?=\.svc\.)/g;

function titleOfTarget(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}

/** Whether a resource or a listener, by its title, may be a target. */
function isPossibly(title: string, { kind, name }: PossibleTarget): boolean {
  const [resource = ""] = title.split("#");
  return (
    (kind === undefined || resource.startsWith(`${kind} `)) &&
    (name === undefined || resource.endsWith(`/${name}`))
  );
}

/** Returns the title of a listener of a resource. */
function sectionTitle(title: string, section: string): string {
  return `${title}#${section}`;
}

/** Returns the names of the resources that any part of a value comes from. */
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

/** Refuses the sections of a backend that have mistakes; returns the same backend if none has. */
function withoutBroken<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
  isBroken: (origin: Origin) => boolean,
): BackendConfig<Kind> {
  const { kubernetes: form } = backendOf(backend.kind);
  const config = form?.withoutBroken?.(backend.config, isBroken, backend.origin);
  return config === undefined || config === backend.config ? backend : { ...backend, config };
}
