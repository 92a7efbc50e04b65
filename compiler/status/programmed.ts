import type { Condition } from "./conditions.ts";

/** The parts of a status that have conditions. */
interface ProgrammedStatus {
  readonly conditions?: readonly Condition[];
  readonly listeners?: readonly { readonly conditions?: readonly Condition[] }[];
}

/** Sets Programmed to False in the status of a Gateway and its listeners, because its compilation produced no program. */
export function withoutProgram(status: ProgrammedStatus, message: string): ProgrammedStatus {
  const { conditions = [], listeners } = status;
  const unless = (all: readonly Condition[]): readonly Condition[] =>
    all.map((each) =>
      each.type === "Programmed" && each.status === "True"
        ? { ...each, status: "False", reason: "Invalid", message }
        : each,
    );
  return {
    ...status,
    conditions: unless(conditions),
    ...(listeners && {
      listeners: listeners.map((each) => ({ ...each, conditions: unless(each.conditions ?? []) })),
    }),
  };
}
