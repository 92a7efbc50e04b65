import type { PolicyKind, PolicyUse } from "../../compiler/ir/policies.ts";
import type { Program } from "../../compiler/ir/program.ts";
import type { ImportSymbol } from "../code/hole.ts";
import { templateOf } from "../policies/index.ts";

/** Returns how threads share the state that policies persist; `undefined` if no policy persists any. */
export function persistedState({ binds }: Pick<Program, "binds">): ImportSymbol | undefined {
  const listeners = binds.flatMap((bind) => bind.listeners);
  const uses = listeners.flatMap(({ preRouting, routes }) => [
    ...(preRouting?.policies ?? []),
    ...routes.flatMap(({ policies }) => policies),
  ]);
  return uses.map(stateOf).find((state) => state !== undefined);
}

function stateOf<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): ImportSymbol | undefined {
  return templateOf<Kind>(kind).persistedState?.(settings);
}
