import { type BackendConfig, type BackendKind, backendOf } from "../backends/index.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import { keyPlace, type Origin, placeKey } from "../diagnostics/diagnostic.ts";
import { foundText, type Section, type Traffic, trafficText } from "../model/traffic.ts";
import type { ListenerResource } from "./resources.ts";

/** A section and what there is where it stands. */
export interface IdleSection {
  readonly section: Section;
  readonly carried: readonly Traffic[];
}

/** A section of a server that a call is made to on which it does not act, and who calls. */
export interface PassedOver {
  readonly section: Section;
  /** Who calls, as messages name it. */
  readonly user: string;
  /** Where the call is configured. */
  readonly at: Origin;
}

/**
 * Which sections of a configuration act. One may hold for many routes and backends: it is fine when it acts on one of
 * them, so what acts on none is only known in the end.
 */
export class SectionUse {
  readonly #acting = new Set<string>();
  readonly #idle = new Map<string, IdleSection>();
  readonly #passedOver = new Map<string, PassedOver>();

  /** A section holds where there is this; undefined: what there is can't be known. Returns whether it acts there. */
  meet(section: Section, carried: readonly Traffic[] | undefined): boolean {
    const key = placeKey(section.origin);
    if (carried === undefined || acts(section.actsOn, carried)) {
      this.#acting.add(key);
      return true;
    }
    this.#idle.set(key, { section, carried });
    return false;
  }

  /** A section does not act on calls of the gateway's own to the server that it is about. */
  passOver(call: PassedOver): void {
    this.#passedOver.set(`${placeKey(call.section.origin)} ${placeKey(call.at)}`, call);
  }

  /** Sections that act, but not on these calls. */
  passedOver(): readonly PassedOver[] {
    const calls = [...this.#passedOver.values()];
    return calls.filter(({ section }) => this.#acting.has(placeKey(section.origin)));
  }

  /** What became of a section; undefined: it holds nowhere. */
  useOf(origin: Origin): "acting" | IdleSection | undefined {
    const key = placeKey(origin);
    return this.#acting.has(key) ? "acting" : this.#idle.get(key);
  }

  /** What was found out elsewhere holds here, too. */
  add(other: SectionUse): void {
    for (const key of other.#acting) this.#acting.add(key);
    for (const [key, idle] of other.#idle) this.#idle.set(key, idle);
    for (const [key, call] of other.#passedOver) this.#passedOver.set(key, call);
  }

  /** The sections that act nowhere they hold. */
  idle(): readonly IdleSection[] {
    return [...this.#idle].flatMap(([key, idle]) => (this.#acting.has(key) ? [] : [idle]));
  }
}

/** Whether there is anything that a section acts on. */
export function acts(actsOn: readonly Traffic[], carried: readonly Traffic[]): boolean {
  return actsOn.some((each) => carried.includes(each));
}

/** Reports a section that can't act where it is written. */
export function reportIdle({ section, carried }: IdleSection, diagnostics: Diagnostics): void {
  const { name, actsOn, origin } = section;
  diagnostics.report("misplaced-field", keyPlace(origin), {
    field: `"${name}"`,
    actsOn: trafficText(actsOn),
    found: foundText(actsOn, carried),
  });
}

/** What there is on a listener before there is a route. */
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

/** What there is on a route of requests; one that answers by itself has no backends. */
export function routeTraffic(backends: readonly BackendConfig[]): readonly Traffic[] {
  return ["requests", ...backends.flatMap((backend) => backendTraffic(backend))];
}

/** What there is on a route of connections: where the client's TLS goes on, the gateway begins none. */
export function streamTraffic(
  backends: readonly BackendConfig[],
  isPassedOn: boolean,
): readonly Traffic[] {
  const kept: readonly Traffic[] = ["shares", "upstreams", ...(isPassedOn ? [] : TLS)];
  const carried = backends.flatMap((backend) => backendTraffic(backend));
  return ["streams", ...carried.filter((each) => kept.includes(each))];
}

const TLS: readonly Traffic[] = ["upstreamTls"];

/** The weight of a backend, which shares the requests of a route with others. */
export function weightSection(origin: Origin): Section {
  return { name: "weight", actsOn: ["shares", "mcp"], origin };
}

/** What there is behind a route with a backend. */
export function backendTraffic<Kind extends BackendKind>(
  backend: BackendConfig<Kind>,
): readonly Traffic[] {
  return backendOf<Kind>(backend.kind)
    .carries(backend)
    .flatMap(({ traffic }) => traffic);
}
