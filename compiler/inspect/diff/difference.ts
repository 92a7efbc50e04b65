import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { ChangeDirection } from "../../model/access.ts";

/** A place in one of the two configurations. */
export interface SidePlace {
  readonly side: "before" | "after";
  readonly origin: Origin;
  /** What stands there. */
  readonly text: string;
}

/** Something that a change of the configuration changes for those who send requests. */
export interface Difference {
  readonly direction: ChangeDirection;
  /** Of what: `route tools (:3000 /mcp)`. */
  readonly subject: string;
  /** What becomes of it: `hidden -> callable`. */
  readonly change: string;
  /** The conditions under which it is so; none: always. */
  readonly when: readonly string[];
  readonly unless: readonly string[];
  /** What decides now. */
  readonly by: SidePlace | undefined;
  /** What decided before, as a phrase. */
  readonly was: string | undefined;
  /** The rule that did. */
  readonly wasBy: Origin | undefined;
  /** A request that shows it. */
  readonly example: string | undefined;
}

/** What two configurations do differently. */
export interface ProgramDiff {
  readonly differences: readonly Difference[];
  /** What could not be decided, each with why. */
  readonly undecided: readonly string[];
  /** Routes whose text is different. */
  readonly changedRoutes: number;
}

/** A difference of which no more is known than what it is. */
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
  };
}

/** What opens access first, then what closes it. */
export function byRisk(differences: readonly Difference[]): readonly Difference[] {
  return differences.toSorted((a, b) => RISK[a.direction] - RISK[b.direction]);
}

const RISK = { opens: 0, closes: 1, changes: 2 } as const;
