import type { ItemDigests } from "../../runtime/mcp/protocol/item-digests.ts";
import type { ItemList } from "../../runtime/mcp/protocol/item-lists.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** An approved tool, prompt, resource or resource template. */
export interface LockedItem {
  readonly list: ItemList;
  /** Name, URI or URI template. */
  readonly name: string;
  /** Start of the description, with invisible characters escaped; empty if it has none. */
  readonly description: string;
  /** Number of invisible characters in the definition. */
  readonly hidden: number;
  readonly digests: ItemDigests;
  /** Names of a tool's arguments; absent for other items, and in locks of older versions. */
  readonly arguments?: readonly string[];
}

/** Approved instructions of a server for clients. */
export interface LockedInstructions extends Pick<LockedItem, "hidden"> {
  /** Start of the instructions, with invisible characters escaped. */
  readonly text: string;
  readonly digest: string;
}

/** Approved items of an MCP server. */
export interface LockedTarget {
  /** Name in the configuration. */
  readonly name: string;
  /** Address or command of the server. Another server with the same name is not approved. */
  readonly server: string;
  /** `undefined` if it has no instructions, or none that are approved. */
  readonly instructions: LockedInstructions | undefined;
  readonly items: readonly LockedItem[];
}

/** Entry of a ConfigMap that contains a lock. */
export const LOCK_ENTRY = "gwc.lock.yaml";

/** A ConfigMap with a lock. */
export interface LockConfigMap {
  readonly namespace: string;
  readonly name: string;
}

/** The lock of a backend. */
export interface ToolLockNode {
  /** Path of the file from the working directory; for a ConfigMap, its name in messages. */
  readonly file: string;
  /** `undefined` if it is a file. */
  readonly configMap: LockConfigMap | undefined;
  /** Servers of the backend that are in the lock. */
  readonly targets: readonly LockedTarget[];
  /** Other servers in the lock: those of other backends, or removed ones. */
  readonly others: readonly LockedTarget[];
  readonly origin: Origin;
}

/** A server of a backend whose items can be locked. */
export interface LockableServer<Node> extends Pick<LockedTarget, "name" | "server"> {
  /** A backend with only that server, and without a lock. */
  readonly node: Node;
}

/** Returns the key of a server: its name and address. */
export function lockKey({ name, server }: Pick<LockedTarget, "name" | "server">): string {
  return JSON.stringify([name, server]);
}
