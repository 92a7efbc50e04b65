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

/** Returns the separator between the names of a target and its item: `target_tool`, `target+uri`. Apps: `ui://target/rest`. */
function separatorOf(kind: McpPrimitiveKind): string {
  return kind === "resource" ? "+" : "_";
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
  const separator = separatorOf(item.kind);
  for (const [index, target] of targets.entries()) {
    const app = item.kind === "resource" ? targetAppUri(target.name, item.name) : undefined;
    if (app !== undefined) return { index, target, name: app };
    const prefix = `${target.name}${separator}`;
    if (item.name.startsWith(prefix)) {
      return { index, target, name: item.name.slice(prefix.length) };
    }
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
  if (!isPrefixed) return name;
  const app = kind === "resource" ? clientAppUri(target.name, name) : undefined;
  return app ?? `${target.name}${separatorOf(kind)}${name}`;
}
