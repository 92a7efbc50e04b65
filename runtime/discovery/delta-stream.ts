import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponseSchema,
} from "../grpc/gen/envoy/service/discovery/v3/discovery_pb.ts";
import { MiB, SECOND } from "../process/units.ts";
import type { DiscoveryResource, ResourceSet } from "./resource-types.ts";

/** A response of the delta protocol. */
type DeltaResponse = MessageInitShape<typeof DeltaDiscoveryResponseSchema>;

/** Settings of a stream. */
export interface DeltaStreamSettings {
  /** Types in the order in which they are sent. The last type waits until the client has accepted all others. */
  readonly order: readonly string[];
  /** Returns the current resources of a type. */
  readonly resources: (type: string) => ResourceSet;
  readonly send: (response: DeltaResponse) => void;
  /** Called when the client has accepted these versions of a type, by name, or not. */
  readonly settled: (
    type: string,
    versions: ReadonlyMap<string, string>,
    result: SettledResult,
  ) => void;
}

/** Result of a response at the client. */
export interface SettledResult {
  /** Why the client refused it; `undefined` if it accepted it. */
  readonly problem: string | undefined;
  /** Accepted parts that the client cannot use now; `undefined` if it uses everything. */
  readonly lacking: string | undefined;
}

const ACCEPTED: SettledResult = { problem: undefined, lacking: undefined };

/** A client's subscription to a type. */
interface Subscription {
  /** Versions that the client has, by name. */
  readonly known: Map<string, string>;
  /** The response that the client has neither accepted nor refused. Later changes wait for that and are sent as one. */
  open: { readonly nonce: string; readonly versions: ReadonlyMap<string, string> } | undefined;
  /** Timer until refused resources are sent again. */
  waiting: NodeJS.Timeout | undefined;
  /** Timer until resources are sent again that the client uses in part. Newer ones do not wait for it. */
  lacking: NodeJS.Timeout | undefined;
}

/** google.rpc.Code UNAVAILABLE in a refusal: the resources are valid, and may be accepted later. */
export const TRY_AGAIN_CODE = 14;
/** google.rpc.Code FAILED_PRECONDITION: the resources are in use, except for parts that may be usable later. */
export const LACKING_CODE = 9;
/** Milliseconds until they are sent again. */
const TRY_AGAIN = 5 * SECOND;

/** Maximum bytes of resources in one response, because clients limit the size of messages. */
const RESPONSE_SIZE = 1 * MiB;

/**
 * The server's side of one stream of Envoy's delta discovery protocol (xds_protocol). It sends what the client lacks and what
 * was removed, one response of a type at a time.
 */
export class DeltaStream {
  readonly #settings: DeltaStreamSettings;
  readonly #subscriptions: Map<string, Subscription> = new Map();
  #nonce = 0;

  constructor(settings: DeltaStreamSettings) {
    this.#settings = settings;
  }

  /** Handles a request: a subscription, or the result of a response. */
  receive({
    typeUrl,
    initialResourceVersions,
    responseNonce,
    errorDetail,
  }: DeltaDiscoveryRequest): void {
    if (!this.#settings.order.includes(typeUrl)) return;
    const subscription = this.#subscriptions.get(typeUrl);
    if (subscription === undefined) {
      const known = new Map(Object.entries(initialResourceVersions));
      this.#subscriptions.set(typeUrl, {
        ...{ known, open: undefined, waiting: undefined, lacking: undefined },
      });
      // A client that already has everything needs no response to settle; an empty one tells it that it is followed.
      if (this.#difference(typeUrl, known) === undefined) {
        this.#settings.settled(typeUrl, known, ACCEPTED);
        this.#settings.send({ typeUrl, nonce: String(++this.#nonce) });
      }
    } else if (subscription.open?.nonce === responseNonce) {
      const { versions } = subscription.open;
      subscription.open = undefined;
      const { code, message } = errorDetail ?? {};
      const isLacking = code === LACKING_CODE;
      this.#settings.settled(
        typeUrl,
        versions,
        isLacking ? { problem: undefined, lacking: message } : { ...ACCEPTED, problem: message },
      );
      clearTimeout(subscription.lacking);
      if (code === TRY_AGAIN_CODE) this.#sendAgain(versions, subscription, "waiting");
      if (isLacking) this.#sendAgain(versions, subscription, "lacking");
    }
    this.push();
  }

  /** Ends the stream. */
  stop(): void {
    for (const { waiting, lacking } of this.#subscriptions.values()) {
      clearTimeout(waiting);
      clearTimeout(lacking);
    }
  }

  /** Sends all changes. */
  push(): void {
    const last = this.#settings.order.at(-1);
    for (const type of this.#settings.order) {
      const isHeldUp = [...this.#subscriptions.values()].some(isPending);
      if (type === last && isHeldUp) return;
      const subscription = this.#subscriptions.get(type);
      if (subscription !== undefined && !isPending(subscription)) this.#send(type, subscription);
    }
  }

  #sendAgain(
    versions: ReadonlyMap<string, string>,
    subscription: Subscription,
    timer: "waiting" | "lacking",
  ): void {
    subscription[timer] = setTimeout(() => {
      subscription[timer] = undefined;
      for (const [name, version] of versions)
        if (subscription.known.get(name) === version) subscription.known.delete(name);
      this.push();
    }, TRY_AGAIN);
  }

  #send(typeUrl: string, subscription: Subscription): void {
    const difference = this.#difference(typeUrl, subscription.known);
    if (difference === undefined) return;
    const { changed, removed } = difference;
    const nonce = String(++this.#nonce);
    const versions = new Map(changed.map(([name, { version }]) => [name, version]));
    for (const [name, version] of versions) subscription.known.set(name, version);
    for (const name of removed) subscription.known.delete(name);
    subscription.open = { nonce, versions };
    this.#settings.send({
      typeUrl,
      nonce,
      removedResources: [...removed],
      resources: changed.map(([name, { version, value }]) => ({
        name,
        version,
        resource: { typeUrl, value },
      })),
    });
  }

  /**
   * Returns what a client lacks, as far as it fits into a response, and what it must remove; `undefined` if it is up to date.
   */
  #difference(
    type: string,
    known: ReadonlyMap<string, string>,
  ):
    | {
        readonly changed: readonly (readonly [string, DiscoveryResource])[];
        readonly removed: readonly string[];
      }
    | undefined {
    const resources = this.#settings.resources(type);
    const changed: [string, DiscoveryResource][] = [];
    let size = 0;
    for (const [name, resource] of resources) {
      if (known.get(name) === resource.version) continue;
      size += resource.value.length;
      if (changed.length > 0 && size > RESPONSE_SIZE) return { changed, removed: [] };
      changed.push([name, resource]);
    }
    const removed = [...known.keys()].filter((name) => !resources.has(name));
    return changed.length + removed.length === 0 ? undefined : { changed, removed };
  }
}

/** Whether nothing more of a type may be sent for now. */
function isPending({ open, waiting }: Subscription): boolean {
  return open !== undefined || waiting !== undefined;
}
