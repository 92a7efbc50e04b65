import type { ItemDigests } from "../../runtime/mcp/protocol/item-digests.ts";
import type { ItemList } from "../../runtime/mcp/protocol/item-lists.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** A tool, prompt, resource or resource template that was approved. */
export interface LockedItem {
  readonly list: ItemList;
  /** Its name, URI or URI template. */
  readonly name: string;
  /** The first words of its description, with what is not seen in it written out; empty: it has none. */
  readonly description: string;
  /** How many characters of its definition are not seen; 0: none. */
  readonly hidden: number;
  readonly digests: ItemDigests;
}

/** What a server tells clients of its use, as it was approved. */
export interface LockedInstructions extends Pick<LockedItem, "hidden"> {
  /** The first words, with what is not seen in them written out. */
  readonly text: string;
  readonly digest: string;
}

/** What was approved of an MCP server. */
export interface LockedTarget {
  /** What the configuration calls it. */
  readonly name: string;
  /** Which server that is: an address, or a command. Another server under the same name is not approved. */
  readonly server: string;
  /** Undefined: it says nothing of its use, or nothing that is approved. */
  readonly instructions: LockedInstructions | undefined;
  readonly items: readonly LockedItem[];
}

/** The entry of a ConfigMap that is a lock. */
export const LOCK_ENTRY = "gwc.lock.yaml";

/** A ConfigMap whose entry is a lock. */
export interface LockConfigMap {
  readonly namespace: string;
  readonly name: string;
}

/** The lock of a backend. */
export interface ToolLockNode {
  /** Its file, as it is found from the working directory; of a ConfigMap what messages call it. */
  readonly file: string;
  /** Undefined: it is a file. */
  readonly configMap: LockConfigMap | undefined;
  /** The servers of the backend that are in it. */
  readonly targets: readonly LockedTarget[];
  /** What else is in it: servers of other backends, or none any more. */
  readonly others: readonly LockedTarget[];
  readonly origin: Origin;
}

/** A server of a backend whose items can be locked. */
export interface LockableServer<Node> extends Pick<LockedTarget, "name" | "server"> {
  /** A backend with that server alone, and without a lock. */
  readonly node: Node;
}

/** The same text for the same server under the same name. */
export function lockKey({ name, server }: Pick<LockedTarget, "name" | "server">): string {
  return JSON.stringify([name, server]);
}
