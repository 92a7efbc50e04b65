import { backendOf } from "../../backends/index.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";

/** Returns a backend without its lock. */
export function withoutLock<Kind extends BackendKind>(node: BackendNode<Kind>): BackendNode<Kind> {
  return backendOf(node.kind).toolLock?.without(node) ?? node;
}

/** Compares the locks of a backend: approved items, or an added or removed lock. */
export function lockDifferences<Kind extends BackendKind>(
  subject: string,
  found: BackendNode,
  node: BackendNode<Kind>,
): readonly Difference[] {
  const form = backendOf(node.kind).toolLock;
  if (form === undefined || found.kind !== node.kind) return [];
  // `as`: both have the same kind, checked above.
  const [old, now] = [form.of(found as BackendNode<Kind>), form.of(node)];
  const by = (side: SidePlace["side"], lock: typeof now): SidePlace | undefined =>
    lock && { side, origin: lock.origin, text: lock.file };
  if (old === undefined && now === undefined) return [];
  if (old === undefined)
    return [
      plainDifference(
        "closes",
        subject,
        "tools, prompts, resources and instructions locked: others are withheld",
        by("after", now),
      ),
    ];
  if (now === undefined)
    return [
      plainDifference(
        "opens",
        subject,
        "tools, prompts, resources and instructions no longer locked: servers may change them",
        by("before", old),
      ),
    ];
  return form
    .changes(old.targets, now.targets)
    .map(({ direction, text }) => plainDifference(direction, subject, text, by("after", now)));
}
