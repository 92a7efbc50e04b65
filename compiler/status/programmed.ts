import type { Condition } from "./conditions.ts";

/** The parts of a status that have conditions. */
interface ProgrammedStatus {
  readonly conditions?: readonly Condition[];
  readonly listeners?: readonly { readonly conditions?: readonly Condition[] }[];
}

/** The status of a Gateway, and of its listeners, whose compilation left no program, whatever else it says. */
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
