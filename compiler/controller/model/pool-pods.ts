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
const LONGEST_WAIT = 5_000;

/** The pods of each InferencePool, which its labels select, kept in step with the API server. */
export class PoolPods {
  readonly #api: ApiServer;
  readonly #listener: PodListener;
  readonly #pools: Map<string, FollowedPool> = new Map();

  constructor(api: ApiServer, listener: PodListener) {
    this.#api = api;
    this.#listener = listener;
  }

  /** Follows the pods of these pools, and of no others; resolves when all are known, or that takes too long. */
  async follow(pools: readonly ApiObject[]): Promise<void> {
    const wanted = new Map(pools.map((pool) => [keyOf(pool), pool]));
    for (const [key, followed] of this.#pools) {
      const pool = wanted.get(key);
      if (pool !== undefined && selectorOf(pool) === followed.selector) continue;
      followed.reflector.stop();
      this.#pools.delete(key);
    }
    for (const [key, pool] of wanted)
      if (!this.#pools.has(key)) this.#pools.set(key, this.#followed(pool));
    const known = Promise.all([...this.#pools.values()].map(({ reflector }) => reflector.synced));
    await Promise.race([known, pause(LONGEST_WAIT, undefined, { ref: false })]);
  }

  /** The pods of a pool that are ready, and how often they have changed; undefined: they are not known. */
  of(key: string): { readonly version: number; readonly pods: readonly PoolPod[] } | undefined {
    const pool = this.#pools.get(key);
    if (pool === undefined || pool.reflector.lists === 0) return undefined;
    const pods = [...pool.reflector.objects.values()].flatMap((each) => callable(each) ?? []);
    return { version: pool.version, pods };
  }

  stop(): void {
    for (const { reflector } of this.#pools.values()) reflector.stop();
  }

  #followed(pool: ApiObject): FollowedPool {
    const selector = selectorOf(pool);
    const followed: FollowedPool = {
      selector,
      version: 0,
      reflector: new Reflector(this.#api, {
        type: POD,
        namespace: pool.metadata.namespace,
        labelSelector: selector,
        keep: keptPod,
        changed: (key, before) => {
          const now = followed.reflector.objects.get(key);
          if (JSON.stringify(now?.status) === JSON.stringify(before?.status)) return;
          followed.version += 1;
          this.#listener.changed();
        },
        warn: this.#listener.warn,
      }),
    };
    return followed;
  }
}

interface FollowedPool {
  readonly selector: string;
  readonly reflector: Reflector;
  version: number;
}

function keyOf({ metadata: { namespace, name } }: ApiObject): string {
  return `${namespace}/${name}`;
}

/** As the API server takes it: `app=models,tier=large`. In v1alpha2 the labels are the selector itself. */
function selectorOf({ spec }: ApiObject): string {
  const selector = recordOf(recordOf(spec)?.selector) ?? {};
  const labels = Object.entries(recordOf(selector.matchLabels) ?? selector);
  return labels.map(([name, value]) => `${name}=${value}`).join(",");
}

/** What of a pod says where it is and whether it can be called. */
function keptPod({ apiVersion, kind, metadata, status }: ApiObject): ApiObject {
  const { name, namespace = "", resourceVersion = "", deletionTimestamp } = metadata;
  const isReady = itemsField(status, "conditions").some(
    (each) => textField(each, "type") === "Ready" && textField(each, "status") === "True",
  );
  const address = textField(status, "podIP");
  const isCallable = isReady && deletionTimestamp === undefined && address !== undefined;
  const kept = { name, namespace, resourceVersion };
  return { apiVersion, kind, metadata: kept, status: isCallable ? { address } : {} };
}

function callable({ metadata: { namespace = "", name }, status }: ApiObject): PoolPod | undefined {
  const address = textField(status, "address");
  return address === undefined ? undefined : { namespace, name, address };
}
