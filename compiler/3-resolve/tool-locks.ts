import { backendOf } from "../backends/index.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { BackendKind, BackendNode } from "../ir/backends.ts";
import type { BindNode } from "../ir/program.ts";
import { lockKey, type ToolLockNode } from "../model/tool-lock.ts";

/** Reports servers in a tool lock that no backend with this lock has. */
export function checkToolLocks(binds: readonly BindNode[], diagnostics: Diagnostics): void {
  const backends = binds.flatMap(({ listeners }) =>
    listeners.flatMap(({ routes }) => routes.flatMap((route) => route.backends)),
  );
  const locks = backends.flatMap((node) => toolLockOf(node) ?? []);
  for (const [file, same] of Map.groupBy(locks, (lock) => lock.file)) {
    const known = new Set(same.flatMap(({ targets }) => targets.map(lockKey)));
    const [first] = same;
    const gone = first?.others.filter((each) => !known.has(lockKey(each))) ?? [];
    for (const { name, server } of gone)
      if (first !== undefined)
        diagnostics.report("gone-lock-target", first.origin, { file, name, server });
  }
}

/** Returns the lock of a backend; `undefined` if it has none. */
export function toolLockOf<Kind extends BackendKind>(
  node: BackendNode<Kind>,
): ToolLockNode | undefined {
  return backendOf(node.kind).toolLock?.of(node);
}
