import { type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import { nameList } from "../diagnostics/name-list.ts";
import type { PolicyKind, PolicyUse } from "../ir/policies.ts";
import type { BindNode, ProcessNode } from "../ir/program.ts";
import { policyOf } from "../policies/index.ts";

/** Something whose state stands in the memory of one thread. */
interface LocalState {
  readonly what: string;
  readonly origin: Origin;
}

/** Reports what would be wrong in each of several threads: a limit would let each of them pass so much. */
export function checkWorkers(
  { workers, audit }: ProcessNode,
  binds: readonly BindNode[],
  gateway: Origin,
  diagnostics: Diagnostics,
): void {
  if (workers === undefined) return;
  const listeners = binds.flatMap((bind) => bind.listeners);
  const routes = new Set(listeners.flatMap((listener) => listener.routes));
  const policies = [
    ...listeners.flatMap(({ preRouting }) => preRouting?.policies ?? []),
    ...[...routes].flatMap((route) => route.policies),
  ];
  const found: readonly LocalState[] = [
    ...policies.filter(keepsCounts).map(({ kind, origin }) => ({ what: kind, origin })),
    ...(audit === undefined ? [] : [{ what: "the audit log", origin: gateway }]),
  ];
  if (found.length === 0) return;
  const names = [...new Set(found.map(({ what }) => what))];
  const related = found
    .filter(({ origin }) => origin !== gateway)
    .map(({ origin: at }) => ({ at: keyPlace(at), label: "here" }));
  diagnostics.report("one-thread-only", workers.origin, { what: nameList(names, "and") }, related);
}

function keepsCounts<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): boolean {
  return policyOf<Kind>(kind).keepsCounts?.(settings) === true;
}
