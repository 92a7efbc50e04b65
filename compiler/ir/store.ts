import type { Origin } from "../diagnostics/diagnostic.ts";
import type { MountedFile, Text } from "../model/texts.ts";

/** A store as configured: its server, and the names of the gateway's keys in it. */
export interface RedisNode {
  readonly kind: "redis";
  /** A URL, or the mounted Secret that contains it. */
  readonly url: Text | MountedFile;
  readonly prefix: string;
  readonly isCluster: boolean;
  /** Name of the primary, if the URL is that of a Sentinel; `undefined` otherwise. */
  readonly sentinelName: string | undefined;
  /**
   * Store if the URL is empty when the gateway starts (`${REDIS_URL:-}`): a file for policies that need records, or none.
   * `undefined` if it requires a URL.
   */
  readonly otherwise: "embedded" | "nothing" | undefined;
  readonly origin: Origin;
}

/** The same before the names of keys are known: without a prefix, they begin with the name of the gateway. */
export type RedisResource = Omit<RedisNode, "prefix" | "otherwise"> & {
  readonly prefix: string | undefined;
};

/** The store that policies of a program use: a shared one, or a file in the process's state directory. */
export type StoreNode = RedisNode | { readonly kind: "embedded" };
