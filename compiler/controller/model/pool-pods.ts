import { setTimeout as pause } from "node:timers/promises";
import type { ApiObject } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { POD, type PodListener } from "../kubernetes/pod-type.ts";
import { Reflector } from "../kubernetes/reflector.ts";

/** A pod that can be called. */
export interface PoolPod {
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
}

/** Milliseconds that what is compiled waits for pods to be known. */
const MAX_WAIT = 5_000;

/** The pods of each InferencePool, which its labels select: a watch for each namespace with pools, however many it has. */
export class PoolPods {
  readonly #api: ApiServer;
  readonly #listener: PodListener;
  readonly #pools: Map<string, FollowedPool> = new Map();
  /** The pods of namespaces. */
  readonly #pods: Map<string, Reflector> = new Map();
  /** How often a pod of any pool has changed, and pools have. */
  #changes = 0;

  constructor(api: ApiServer, listener: PodListener) {
    this.#api = api;
    this.#listener = listener;
  }

  /** Follows the pods of these pools, and of no others; resolves when all are known, or that takes too long. */
  async follow(pools: readonly ApiObject[]): Promise<void> {
    const wanted = new Map(pools.map((pool) => [keyOf(pool), followedPool(pool)]));
    for (const key of this.#pools.keys()) if (!wanted.has(key)) this.#pools.delete(key);
    for (const [key, pool] of wanted) {
      const known = this.#pools.get(key);
      if (known !== undefined && isSameSelector(known.selector, pool.selector)) continue;
      this.#changes += 1;
      this.#pools.set(key, { ...pool, version: this.#changes });
    }
    const namespaces = new Set([...wanted.values()].map(({ namespace }) => namespace));
    for (const [namespace, reflector] of this.#pods) {
      if (namespaces.has(namespace)) continue;
      reflector.stop();
      this.#pods.delete(namespace);
    }
    for (const namespace of namespaces)
      if (!this.#pods.has(namespace)) this.#pods.set(namespace, this.#podsOf(namespace));
    const known = Promise.all([...this.#pods.values()].map(({ synced }) => synced));
    await Promise.race([known, pause(MAX_WAIT, undefined, { ref: false })]);
  }

  /** Returns the ready pods of a pool, and the number of their changes; `undefined` if they are not known. */
  of(key: string): { readonly version: number; readonly pods: readonly PoolPod[] } | undefined {
    const pool = this.#pools.get(key);
    const known = pool && this.#pods.get(pool.namespace);
    if (pool === undefined || known === undefined || known.lists === 0) return undefined;
    const pods = [...known.objects.values()].filter((pod) => isOf(pod, pool));
    return { version: pool.version, pods: pods.flatMap((each) => callable(each) ?? []) };
  }

  stop(): void {
    for (const reflector of this.#pods.values()) reflector.stop();
  }

  #podsOf(namespace: string): Reflector {
    const reflector: Reflector = new Reflector(this.#api, {
      type: POD,
      namespace,
      keep: keptPod,
      changed: (key, before) => this.#changed(namespace, reflector.objects.get(key), before),
      warn: this.#listener.warn,
    });
    return reflector;
  }

  #changed(namespace: string, now: ApiObject | undefined, before: ApiObject | undefined): void {
    const addresses = (pool: FollowedPool) =>
      [now, before].map((pod) => pod && isOf(pod, pool) && callable(pod)?.address);
    const concerned = [...this.#pools.values()].filter((pool) => {
      const [present, past] = addresses(pool);
      return pool.namespace === namespace && (present || "") !== (past || "");
    });
    if (concerned.length === 0) return;
    this.#changes += 1;
    for (const pool of concerned) pool.version = this.#changes;
    this.#listener.changed();
  }
}

interface FollowedPool {
  readonly namespace: string;
  /** Labels that its pods have. */
  readonly selector: ReadonlyMap<string, unknown>;
  version: number;
}

function followedPool({ metadata: { namespace = "" }, spec }: ApiObject): FollowedPool {
  const selector = recordOf(recordOf(spec)?.selector) ?? {};
  // In v1alpha2 the labels are the selector itself.
  const labels = Object.entries(recordOf(selector.matchLabels) ?? selector);
  return { namespace, selector: new Map(labels), version: 0 };
}

function isSameSelector(
  one: ReadonlyMap<string, unknown>,
  other: ReadonlyMap<string, unknown>,
): boolean {
  return one.size === other.size && [...one].every(([name, value]) => other.get(name) === value);
}

function isOf({ metadata: { labels = {} } }: ApiObject, { selector }: FollowedPool): boolean {
  return [...selector].every(([name, value]) => labels[name] === value);
}

function keyOf({ metadata: { namespace, name } }: ApiObject): string {
  return `${namespace}/${name}`;
}

/** Fields of a pod: its address, its readiness, and its pools. */
function keptPod({ apiVersion, kind, metadata, status }: ApiObject): ApiObject {
  const { name, namespace = "", resourceVersion = "", labels = {}, deletionTimestamp } = metadata;
  const isReady = itemsField(status, "conditions").some(
    (each) => textField(each, "type") === "Ready" && textField(each, "status") === "True",
  );
  const address = textField(status, "podIP");
  const isCallable = isReady && deletionTimestamp === undefined && address !== undefined;
  const kept = { name, namespace, resourceVersion, labels };
  return { apiVersion, kind, metadata: kept, status: isCallable ? { address } : {} };
}

function callable({ metadata: { namespace = "", name }, status }: ApiObject): PoolPod | undefined {
  const address = textField(status, "address");
  return address === undefined ? undefined : { namespace, name, address };
}
