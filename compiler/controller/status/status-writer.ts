import { kinds, resourceKind, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { CONTROLLER } from "../../status/conditions.ts";
import { FairQueue } from "../fair-queue.ts";
import { type ApiObject, objectKey, resourcePath } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { ownerOf } from "../model/gateway-owner.ts";
import { OWN_CONDITIONS } from "../model/watched-object.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { isSameStatus, mergedStatus, type OwnEntry } from "./merged-status.ts";
import { MistakeEvents } from "./mistake-events.ts";

/** The wanted status of an object. */
export interface WantedStatus {
  readonly kind: string;
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly status: object;
  /** The generation of the object that it is about. */
  readonly generation: number | undefined;
  /** Whether the object keeps its status until data planes have taken the generation, or have not taken it for too long. */
  readonly isInDelivery?: boolean;
}

/** Kinds that have a status of ours, whatever the other names that they go by. */
const KINDS: readonly string[] = [
  ...["GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute"],
  ...["BackendTLSPolicy", "GatewayBackend", "GatewayModel", "GatewayPolicy", "InferencePool"],
];
const NAMES = kinds.flatMap(({ kind, names }) => (KINDS.includes(kind) ? names : []));

/** Maximum number of writes in flight. */
const AT_ONCE = 8;
/** HTTP 409: somebody else wrote in between; the watch brings it, and the object is compared again. */
const CONFLICT = 409;
/** HTTP 404: the object is gone. */
const MISSING = 404;

/**
 * Keeps the statuses of objects as they should be. It is level-triggered: whatever is wanted is compared with what the
 * objects say, and only differences are written, one write for an object at a time.
 */
export class StatusWriter {
  readonly #api: ApiServer;
  readonly #objects: WatchedObjects;
  readonly #warn: (message: string) => void;
  readonly #events: MistakeEvents;
  /** Undefined: nothing is known yet, and what objects say stays. */
  #wanted: ReadonlyMap<string, WantedStatus> | undefined;
  /** Versions of objects whose status was found to be right already: most of them, each time. */
  readonly #agreed: WeakMap<ApiObject, Pick<WantedStatus, "status" | "generation">> = new WeakMap();
  readonly #waiting = new FairQueue<ApiObject>();
  readonly #busy: Set<string> = new Set();
  /** The last written statuses with their versions, until the watch delivers them. */
  readonly #written: Map<string, { readonly over: string | undefined; readonly status: unknown }> =
    new Map();
  /** Statuses that were written. */
  writes = 0;
  /** False: another replica writes. */
  isLeading = false;

  constructor(api: ApiServer, objects: WatchedObjects, warn: (message: string) => void) {
    this.#api = api;
    this.#objects = objects;
    this.#warn = warn;
    this.#events = new MistakeEvents(api, warn);
  }

  /** How many are to be written, or are being written. */
  get waiting(): number {
    return this.#waiting.size + this.#busy.size;
  }

  /** Replaces what is wanted. */
  want(wanted: readonly WantedStatus[]): void {
    this.#wanted = new Map(wanted.map((each) => [`${each.kind} ${each.key}`, each]));
    this.compare();
  }

  /** Compares all objects with what is wanted, and writes what differs. */
  compare(): void {
    if (!this.isLeading || this.#wanted === undefined) return;
    for (const name of NAMES)
      for (const object of this.#objects.ofKind(name))
        if (this.#difference(object) !== undefined)
          this.#waiting.add(object.metadata.namespace ?? "", idOf(object), object);
    this.#write();
  }

  #write(): void {
    while (this.#busy.size < AT_ONCE) {
      const next = this.#waiting.take((id) => !this.#busy.has(id));
      if (next === undefined) return;
      const [id, object] = next;
      this.#busy.add(id);
      void this.#writeOne(object).finally(() => {
        this.#busy.delete(id);
        this.#write();
      });
    }
  }

  async #writeOne(seen: ApiObject): Promise<void> {
    const object = this.#objects.newest(seen);
    const type = this.#objects.typeOf(seen);
    const wanted = object && this.#wantedOf(object);
    const status = object && this.#difference(object);
    if (object === undefined || type === undefined || status === undefined || !this.isLeading)
      return;
    const id = idOf(object);
    const { namespace, name, resourceVersion } = object.metadata;
    try {
      const response = await this.#api.request({
        method: "PATCH",
        path: `${resourcePath(type, namespace, name)}/status`,
        contentType: "application/merge-patch+json",
        // A list is replaced whole: nobody may have written in between.
        body: { metadata: { resourceVersion }, status },
      });
      if (response.status === 200) {
        const metadata = recordOf(recordOf(response.body)?.metadata);
        if (metadata?.resourceVersion === resourceVersion) {
          // The definition of the object lacks a field of the status: another write would change nothing, either.
          if (wanted !== undefined) this.#agreed.set(object, wanted);
          return;
        }
        this.writes += 1;
        this.#events.tell(object, object.status, recordOf(response.body)?.status);
        this.#written.set(id, { over: resourceVersion, status: recordOf(response.body)?.status });
      } else if (response.status !== CONFLICT && response.status !== MISSING) {
        const said = JSON.stringify(recordOf(response.body)?.message ?? response.body);
        this.#warn(`the status of ${id} was refused (${response.status}): ${said}`);
      }
    } catch (error) {
      this.#warn(`the status of ${id} was not written: ${String(error)}`);
    }
  }

  /** The status to write; undefined when the object has it. */
  #difference(object: ApiObject): unknown {
    // What another release reads is its own to speak of.
    if (!this.#objects.isRead(object)) return undefined;
    const id = idOf(object);
    const wanted = this.#wantedOf(object);
    if (wanted?.isInDelivery === true) return undefined;
    const agreed = this.#agreed.get(object);
    if (agreed !== undefined && wanted !== undefined && isSameWanted(wanted, agreed))
      return undefined;
    const written = this.#written.get(id);
    const isAhead = written !== undefined && written.over === object.metadata.resourceVersion;
    const live = isAhead ? { ...object, status: written.status } : object;
    const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const status = mergedStatus(wanted, live, now, (entry) => this.#isOwn(entry));
    if (!isSameStatus(status, live.status ?? {})) return status;
    if (wanted !== undefined) this.#agreed.set(object, wanted);
    return undefined;
  }

  #wantedOf(object: ApiObject): Omit<WantedStatus, "kind" | "key"> | undefined {
    // What is compiled is of a moment before: another controller may have begun to speak of it.
    if (object.kind === "Gateway" && ownerOf(object, this.#objects) !== "ours")
      return leftStatus(object);
    const kind = resourceKind(splitApiVersion(object.apiVersion).group, object.kind);
    const wanted = this.#wanted?.get(`${kind} ${objectKey(object.metadata)}`);
    if (!isOldPool(object)) return wanted ?? leftStatus(object);
    const status = oldPoolStatus(wanted?.status, object, (entry) => this.#isOwn(entry));
    return { ...wanted, status, generation: wanted?.generation };
  }

  #isOwn(entry: unknown): boolean {
    return isPlaceholder(entry) || isOwnEntry(entry, this.#objects);
  }
}

/** Most wanted statuses are the same objects as before. */
function isSameWanted(
  one: Pick<WantedStatus, "status" | "generation">,
  other: Pick<WantedStatus, "status" | "generation">,
): boolean {
  if (one.generation !== other.generation) return false;
  return one.status === other.status || isSameStatus(one.status, other.status);
}

/** Two kinds of one name are of two groups. */
function idOf({ apiVersion, kind, metadata }: ApiObject): string {
  return `${kind}.${splitApiVersion(apiVersion).group} ${objectKey(metadata)}`;
}

/**
 * Whether an entry of a list is this controller's. One that can't say who wrote it is, where it is about a Gateway of ours,
 * or about one that is gone.
 */
function isOwnEntry(entry: unknown, objects: WatchedObjects): boolean {
  const { controllerName, parentRef } = recordOf(entry) ?? {};
  if (controllerName !== undefined || textField(parentRef, "kind") !== "Gateway")
    return controllerName === CONTROLLER;
  const key = `${textField(parentRef, "namespace")}/${textField(parentRef, "name")}`;
  const gateway = objects.find("Gateway", key);
  return gateway === undefined || ownerOf(gateway, objects) === "ours";
}

const LISTENING: readonly string[] = ["Gateway", "ListenerSet", "XListenerSet"];

/** Default conditions of the Gateway API's definitions, before a controller has looked at a Gateway. */
const WAITING = ["Accepted", "Programmed"].map((type) => {
  return { type, status: "Unknown", reason: "Pending", message: "Waiting for controller" };
});

/**
 * Returns the status of an object with listeners that no longer belongs to this controller, because its class changed
 * or is gone. Conditions that another controller has written stay; `undefined` if nothing has to be withdrawn.
 */
function leftStatus(
  object: ApiObject,
): { readonly status: object; readonly generation: undefined } | undefined {
  if (!LISTENING.includes(object.kind) || object[OWN_CONDITIONS] !== true) return undefined;
  const { addresses, attachedListenerSets } = recordOf(object.status) ?? {};
  const status = {
    conditions: WAITING,
    listeners: [],
    ...(addresses === undefined ? {} : { addresses: [] }),
    ...(attachedListenerSets === undefined ? {} : { attachedListenerSets: 0 }),
  };
  return { status, generation: undefined };
}

const VERSION = "inference.networking.x-k8s.io/v1alpha2";

/** The list's value while no Gateway uses a pool (v1alpha2). */
const NO_PARENT = {
  parentRef: { kind: "Status", name: "default" },
  conditions: [
    { type: "Accepted", status: "Unknown", reason: "Pending", message: "Waiting for controller" },
  ],
};

/** Whether an object is an InferencePool of v1alpha2, whose status has other fields. */
function isOldPool({ kind, apiVersion }: ApiObject): boolean {
  return kind === "InferencePool" && apiVersion === VERSION;
}

/** Whether an entry says that no Gateway uses the pool. Controllers remove it when they add their own. */
function isPlaceholder(entry: unknown): boolean {
  const reference = recordOf(entry)?.parentRef;
  return (
    textField(reference, "kind") === NO_PARENT.parentRef.kind &&
    textField(reference, "name") === NO_PARENT.parentRef.name
  );
}

/**
 * The status of an InferencePool in the words of v1alpha2: `parent` and not `parents`, Gateways by their apiVersion, and
 * nobody says who wrote an entry. `wanted`: that of v1.
 */
function oldPoolStatus(wanted: object | undefined, pool: ApiObject, isOwn: OwnEntry): object {
  const parent = itemsField(wanted, "parents").map((each) => {
    const { parentRef, conditions } = recordOf(each) ?? {};
    const { group, ...reference } = recordOf(parentRef) ?? {};
    return { parentRef: { apiVersion: `${group}/v1`, ...reference }, conditions };
  });
  const known = itemsField(pool.status, "parent");
  const isLast = parent.length === 0 && known.length > 0 && known.every(isOwn);
  return { parent: isLast ? [NO_PARENT] : parent };
}
