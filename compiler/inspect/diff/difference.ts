import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { ChangeDirection } from "../../model/access.ts";

/** A location in one of the two configurations. */
export interface SidePlace {
  readonly side: "before" | "after";
  readonly origin: Origin;
  /** Source at the location. */
  readonly text: string;
}

/** An effect of a configuration change on requests. */
export interface Difference {
  readonly direction: ChangeDirection;
  /** Affected part: `route tools (:3000 /mcp)`. */
  readonly subject: string;
  /** Old and new state: `hidden -> callable`. */
  readonly change: string;
  /** Conditions of the affected requests; empty for all requests. */
  readonly when: readonly string[];
  readonly unless: readonly string[];
  /** The rule or part that decides now. */
  readonly by: SidePlace | undefined;
  /** Phrase for what decided before. */
  readonly was: string | undefined;
  /** The rule that decided before. */
  readonly wasBy: Origin | undefined;
  /** An example request. */
  readonly example: string | undefined;
  /** Changed lines of code that users wrote; empty if the change is not in code. */
  readonly lines: readonly string[];
}

/** Result of comparing two configurations. */
export interface ProgramDiff {
  readonly differences: readonly Difference[];
  /** Undecided questions, each with its reason. */
  readonly undecided: readonly string[];
  /** Number of routes whose configuration changed. */
  readonly changedRoutes: number;
}

/** Creates a difference without conditions and example. */
export function plainDifference(
  direction: ChangeDirection,
  subject: string,
  change: string,
  by?: SidePlace,
): Difference {
  return {
    direction,
    subject,
    change,
    when: [],
    unless: [],
    by,
    was: undefined,
    wasBy: undefined,
    example: undefined,
    lines: [],
  };
}

/** Sorts differences: opened access first, then closed access. */
export function byRisk(differences: readonly Difference[]): readonly Difference[] {
  return differences.toSorted((a, b) => RISK[a.direction] - RISK[b.direction]);
}

const RISK = { opens: 0, closes: 1, changes: 2 } as const;
