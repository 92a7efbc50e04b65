import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { ItemCaller } from "../transports/item-owners.ts";
import type { McpTarget } from "../transports/target.ts";
import { clientAppUri, targetAppUri } from "./app-uris.ts";

/** The target and name of an item that a client named. */
export interface ResolvedPrimitive {
  /** Index of the target in the backend. */
  readonly index: number;
  readonly target: McpTarget;
  /** Name of the item at the target. */
  readonly name: string;
}

/** Returns the name of a target's item for clients of several targets: `target_tool`, `target+uri`, `ui://target/rest`. */
export function prefixedName(target: string, kind: McpPrimitiveKind, name: string): string {
  const app = kind === "resource" ? clientAppUri(target, name) : undefined;
  return app ?? `${prefixOf(target, kind)}${name}`;
}

/** Returns a target's own name of an item from that of clients; `undefined` if the item is not the target's. */
export function ownName(target: string, kind: McpPrimitiveKind, name: string): string | undefined {
  const app = kind === "resource" ? targetAppUri(target, name) : undefined;
  const prefix = prefixOf(target, kind);
  return app ?? (name.startsWith(prefix) ? name.slice(prefix.length) : undefined);
}

function prefixOf(target: string, kind: McpPrimitiveKind): string {
  return `${target}${kind === "resource" ? "+" : "_"}`;
}

/** Finds the target of an item by the name that the client uses; `undefined` if there is no such target. */
export function resolvePrimitive(
  backend: McpBackend,
  item: { readonly kind: McpPrimitiveKind; readonly name: string },
  caller: ItemCaller,
): ResolvedPrimitive | undefined {
  const { targets, owners } = backend;
  const list = owners?.listOf(item.kind);
  if (list !== undefined) {
    const index = owners?.known(caller, list)?.get(item.name) ?? -1;
    const target = targets[index];
    return target && { index, target, name: item.name };
  }
  if (!backend.prefix) {
    const only = targets[0];
    return only && { index: 0, target: only, name: item.name };
  }
  for (const [index, target] of targets.entries()) {
    const name = ownName(target.name, item.kind, item.name);
    if (name !== undefined) return { index, target, name };
  }
  return undefined;
}

/** Returns the client's name of a target's item. */
export function clientName(
  backend: Pick<McpBackend, "prefix" | "owners">,
  target: McpTarget,
  kind: McpPrimitiveKind,
  name: string,
): string {
  const isPrefixed = backend.prefix && backend.owners?.listOf(kind) === undefined;
  return isPrefixed ? prefixedName(target.name, kind, name) : name;
}
