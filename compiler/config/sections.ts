import { type BackendConfig, type BackendKind, backendOf } from "../backends/index.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import { keyPlace, type Origin, placeKey } from "../diagnostics/diagnostic.ts";
import { foundText, isOfCalls, type Section, type Traffic, trafficText } from "../model/traffic.ts";
import type { ListenerResource } from "./resources.ts";

/** A section without effect, and the traffic that exists in its place. */
export interface IdleSection {
  readonly section: Section;
  readonly carried: readonly Traffic[];
}

/** A section that does not apply to a call of the gateway itself, and the caller. */
export interface PassedOver {
  readonly section: Section;
  /** Name of the caller in messages. */
  readonly user: string;
  /** Place where the call is configured. */
  readonly at: Origin;
}

/**
 * Records which sections of a configuration apply. A section may cover many routes and backends and is used if it
 * applies to one of them, so unused sections are only known at the end.
 */
export class SectionUse {
  readonly #acting = new Set<string>();
  readonly #idle = new Map<string, IdleSection>();
  readonly #passedOver = new Map<string, PassedOver>();

  /**
   * Records the traffic that a section covers; `undefined` if it cannot be known. Returns whether the section applies
   * to it.
   */
  meet(section: Section, carried: readonly Traffic[] | undefined): boolean {
    const key = placeKey(section.origin);
    if (carried === undefined || acts(section.actsOn, carried)) {
      this.#acting.add(key);
      return true;
    }
    this.#idle.set(key, { section, carried });
    return false;
  }

  /** Records that a section does not apply to calls of the gateway itself to its server. */
  passOver(call: PassedOver): void {
    this.#passedOver.set(`${placeKey(call.section.origin)} ${placeKey(call.at)}`, call);
  }

  /** Sections that are used, but not for these calls. */
  passedOver(): readonly PassedOver[] {
    const calls = [...this.#passedOver.values()];
    return calls.filter(({ section }) => this.#acting.has(placeKey(section.origin)));
  }

  /** Returns the use of a section; `undefined` if it covers nothing. */
  useOf(origin: Origin): "acting" | IdleSection | undefined {
    const key = placeKey(origin);
    return this.#acting.has(key) ? "acting" : this.#idle.get(key);
  }

  /** Merges the records of another instance. */
  add(other: SectionUse): void {
    for (const key of other.#acting) this.#acting.add(key);
    for (const [key, idle] of other.#idle) this.#idle.set(key, idle);
    for (const [key, call] of other.#passedOver) this.#passedOver.set(key, call);
  }

  /** Returns the sections that apply nowhere. */
  idle(): readonly IdleSection[] {
    return [...this.#idle].flatMap(([key, idle]) => (this.#acting.has(key) ? [] : [idle]));
  }
}

/** Whether there is any traffic that a section applies to. */
export function acts(actsOn: readonly Traffic[], carried: readonly Traffic[]): boolean {
  return actsOn.some((each) => carried.includes(each));
}

/** Reports a section that cannot apply in its place. */
export function reportIdle({ section, carried }: IdleSection, diagnostics: Diagnostics): void {
  const { name, actsOn, origin, isOptional = false } = section;
  // A child process is called without a connection, so nothing is unprotected.
  if (isOptional || (carried.includes("children") && isOfCalls(actsOn))) {
    const params = { field: name, actsOn: trafficText(actsOn) };
    diagnostics.report("idle-model-field", keyPlace(origin), params);
    return;
  }
  diagnostics.report("misplaced-field", keyPlace(origin), {
    field: `"${name}"`,
    actsOn: trafficText(actsOn),
    found: foundText(actsOn, carried),
  });
}

/** Returns the traffic of a listener before a route is chosen. */
export function listenerTraffic({
  protocol,
  tls,
}: Pick<ListenerResource, "protocol" | "tls">): readonly Traffic[] {
  switch (protocol) {
    case "HTTP":
      return ["connections", "requests"];
    case "HTTPS":
      return ["connections", "handshakes", "tls", "https", "requests"];
    case "TLS":
      return [
        "connections",
        "handshakes",
        ...(tls === undefined ? [] : (["tls", "endedTls"] as const)),
        "streams",
      ];
    case "TCP":
      return ["connections", "streams"];
  }
}

/** Returns the traffic of a request route; one that responds itself has no backends. */
export function routeTraffic(backends: readonly BackendConfig[]): readonly Traffic[] {
  return ["requests", ...backends.flatMap((backend) => backendTraffic(backend))];
}

/** Returns the traffic of a connection route: the gateway opens no TLS connections if it passes TLS through. */
export function streamTraffic(
  backends: readonly BackendConfig[],
  isPassedOn: boolean,
): readonly Traffic[] {
  const kept: readonly Traffic[] = ["shares", "upstreams", ...(isPassedOn ? [] : TLS)];
  const carried = backends.flatMap((backend) => backendTraffic(backend));
  return ["streams", ...carried.filter((each) => kept.includes(each))];
}

const TLS: readonly Traffic[] = ["upstreamTls"];

/** Returns the weight of a backend as a section, which requires other backends on the route. */
export function weightSection(origin: Origin): Section {
  return { name: "weight", actsOn: ["shares", "mcp"], origin };
}

/** Returns the traffic behind a route with a backend. */
export function backendTraffic<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
): readonly Traffic[] {
  return backendOf<Kind>(backend.kind)
    .carries(backend)
    .flatMap(({ traffic }) => traffic);
}
