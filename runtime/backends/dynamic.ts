import { createHmac } from "node:crypto";
import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { openUpstream } from "../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../http/upstream/upstream.ts";
import { type Connect, connector, systemKeepAlive } from "../net/connector.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { AddressRules } from "./dynamic/address-rules.ts";
import { type AddressCheck, addressRefusal, checkedLookup } from "./dynamic/checked-address.ts";
import {
  type Destination,
  isAddress,
  type NoDestination,
  readDestination,
} from "./dynamic/destination.ts";
import { forbidden } from "./host.ts";
import { RecentUpstreams } from "./recent-upstreams.ts";

/** A backend whose host is chosen by each request, with the settings of all its connections. */
export interface DestinationSettings extends Omit<UpstreamSettings, "url"> {
  readonly scheme: "http" | "https";
  /** Port of requests that name none. */
  readonly port: number;
  /** Addresses and ranges that may be reached although they are not public. */
  readonly allowPrivate: readonly string[];
}

/** Name of all destinations in metrics, because clients choose them. */
const DYNAMIC = "dynamic";

/** Destinations of one backend, each with its pool of connections. */
export class Destinations {
  readonly settings: DestinationSettings;
  readonly #rules: AddressRules;
  readonly #upstreams = new RecentUpstreams();
  #marks: readonly [string, ...string[]] | undefined;

  constructor(settings: DestinationSettings) {
    this.settings = settings;
    this.#rules = new AddressRules(settings.allowPrivate);
  }

  /** Returns the pool of a destination, or why it may not be reached. */
  upstream({ host, port }: Destination, gateway: GatewayContext): Upstream | NoDestination {
    const key = `${host}:${port}`;
    const known = this.#upstreams.get(key);
    if (known !== undefined) return known;
    const opened = this.#open({ host, port }, { rules: this.#rules, gateway });
    return "fault" in opened ? opened : this.#upstreams.add(key, opened);
  }

  /** Returns the function that connects to a destination, or why it may not be reached. */
  connector({ host, port }: Destination, gateway: GatewayContext): Connect | NoDestination {
    const check = { rules: this.#rules, gateway };
    const why = isAddress({ host, port }) ? addressRefusal(host, port, check) : undefined;
    if (why !== undefined) return { fault: "forbidden", why };
    const { connectTimeout: timeout, keepAlive = systemKeepAlive } = this.settings;
    return connector({
      host,
      port,
      alpn: [],
      allowHalfOpen: true,
      timeout,
      keepAlive,
      countedAs: DYNAMIC,
      lookup: checkedLookup(port, check),
    });
  }

  /**
   * Returns the gateway's names in Via, one for each session key: shared by all processes with that key, and unguessable for
   * others.
   */
  marks({ sessionKeys: [first, ...others] }: GatewayContext): readonly [string, ...string[]] {
    const mark = (key: Buffer) =>
      `gwc-${createHmac("sha256", key).update("via").digest("hex").slice(0, 16)}`;
    this.#marks ??= [mark(first), ...others.map(mark)];
    return this.#marks;
  }

  #open(destination: Destination, check: AddressCheck): Upstream | NoDestination {
    const { scheme, port: _, allowPrivate: _ranges, ...settings } = this.settings;
    const { host, port } = destination;
    if (isAddress(destination)) {
      const why = addressRefusal(host, port, check);
      if (why !== undefined) return { fault: "forbidden", why };
    }
    const url = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
    // A name may look like an internationalised one (`xn--`) and be invalid.
    if (!URL.canParse(url)) return { fault: "malformed", why: "not a host name" };
    return openUpstream({ url, countedAs: DYNAMIC, ...settings }, checkedLookup(port, check));
  }
}

/**
 * Returns the upstream of a destination that an expression computed. Returns `undefined` if there is none, or if it may not
 * be reached; the request was then answered (502, 400, or 403 with the reason in the log).
 */
export function computedDestination(
  exchange: Exchange,
  destinations: Destinations,
  target: unknown,
): Upstream | undefined {
  if (typeof target !== "string") {
    logFields(exchange.record).set("error", "the target's expression has no value");
    refuse(exchange, 502, "UpstreamFailure", "no destination");
    return undefined;
  }
  const upstream = openDestination(exchange, destinations, target);
  exchange.upstreamHost ??= exchange.host;
  return upstream;
}

/**
 * Returns the upstream that the request names: by a policy's change of its Host, otherwise by its Host. Returns `undefined` if
 * it may not be reached; the request was then answered (400, or 403 with the reason in the log).
 */
export function chooseDestination(
  exchange: Exchange,
  destinations: Destinations,
): Upstream | undefined {
  const authority = exchange.upstreamHost ?? exchange.host;
  const upstream = openDestination(exchange, destinations, authority);
  // The destination must see the host that was checked.
  if (upstream !== undefined) exchange.upstreamHost = authority;
  return upstream;
}

function openDestination(
  exchange: Exchange,
  destinations: Destinations,
  authority: string,
): Upstream | undefined {
  const chosen = readDestination(authority.toLowerCase(), destinations.settings.port);
  const upstream = "fault" in chosen ? chosen : destinations.upstream(chosen, exchange.gateway);
  if ("fault" in upstream) {
    refuseDestination(exchange, upstream);
    return undefined;
  }
  const marks = destinations.marks(exchange.gateway);
  const via = exchange.header("via");
  if (via !== undefined && marks.some((mark) => via.includes(mark))) {
    refuseDestination(exchange, { fault: "forbidden", why: "the request is in a loop" });
    return undefined;
  }
  // RFC 9110 7.6.3: a proxy adds itself to Via, and so recognizes loops.
  const hop = `${exchange.version.slice("HTTP/".length)} ${marks[0]}`;
  exchange.setRequestHeader("via", via === undefined ? hop : `${via}, ${hop}`);
  return upstream;
}

/** Refuses a request whose destination may not be reached. */
export function refuseDestination(exchange: Exchange, { fault, why }: NoDestination): void {
  logFields(exchange.record).set("error", why);
  if (fault === "malformed") refuse(exchange, 400, "BadRequest", "invalid destination");
  else refuse(exchange, forbidden.status, forbidden.reason, forbidden.message);
}
