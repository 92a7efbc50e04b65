import { backendOf } from "../../backends/index.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";

/** A backend without what its lock says. */
export function withoutLock<Kind extends BackendKind>(node: BackendNode<Kind>): BackendNode<Kind> {
  return backendOf(node.kind).toolLock?.without(node) ?? node;
}

/** What becomes of the items of a backend because of their lock: which are approved, or that there is one. */
export function lockDifferences<Kind extends BackendKind>(
  subject: string,
  found: BackendNode,
  node: BackendNode<Kind>,
): readonly Difference[] {
  const form = backendOf(node.kind).toolLock;
  if (form === undefined || found.kind !== node.kind) return [];
  // `as`: they are of one kind
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
        "tools, prompts, resources and instructions not locked any more: as servers have them",
        by("before", old),
      ),
    ];
  return form
    .changes(old.targets, now.targets)
    .map(({ direction, text }) => plainDifference(direction, subject, text, by("after", now)));
}
