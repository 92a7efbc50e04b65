import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ToolLockNode } from "../../model/tool-lock.ts";

/** A target, with its tools if they are known at build. */
interface NamedTarget {
  readonly name: string;
  readonly tools?: readonly { readonly name: string }[];
  readonly origin: Origin;
}

/**
 * Reports tools and prompts that several targets are known to have, from documents and the lock: without prefixes, clients
 * only see that of the first target.
 */
export function reportSharedNames(
  targets: readonly NamedTarget[],
  lock: ToolLockNode | undefined,
  diagnostics: Diagnostics,
): void {
  const owners = new Map<string, NamedTarget>();
  for (const target of targets) {
    for (const item of knownItems(target, lock)) {
      const owner = owners.get(item) ?? target;
      owners.set(item, owner);
      if (owner === target) continue;
      const related = [{ at: childOf(owner.origin, "name"), label: "the target that owns it" }];
      const params = { item, owner: owner.name };
      diagnostics.report("shared-item-name", childOf(target.origin, "name"), params, related);
    }
  }
}

/**
 * Reports tools that targets are known to have whose names for clients are those of the gateway's own tools (`own`): clients
 * do not see them.
 */
export function reportOwnNames(
  targets: readonly NamedTarget[],
  lock: ToolLockNode | undefined,
  { own, arePrefixed }: { readonly own: readonly string[]; readonly arePrefixed: boolean },
  diagnostics: Diagnostics,
): void {
  for (const target of targets) {
    const items = knownItems(target, lock);
    for (const name of own) {
      const prefix = `${target.name}_`;
      const isOwn = !arePrefixed || name.startsWith(prefix);
      const item = `tool "${arePrefixed ? name.slice(prefix.length) : name}"`;
      if (isOwn && items.includes(item))
        diagnostics.report("tool-of-gateway", childOf(target.origin, "name"), { item, name });
    }
  }
}

function knownItems(
  { name, tools }: NamedTarget,
  lock: ToolLockNode | undefined,
): readonly string[] {
  if (tools !== undefined) return tools.map((tool) => `tool "${tool.name}"`);
  const { items = [] } = lock?.targets.find((each) => each.name === name) ?? {};
  return items.flatMap((item) => {
    if (item.list === "tools") return [`tool "${item.name}"`];
    return item.list === "prompts" ? [`prompt "${item.name}"`] : [];
  });
}
