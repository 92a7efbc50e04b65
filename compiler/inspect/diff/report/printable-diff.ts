import { printable } from "../../../diagnostics/report/display-width.ts";
import type { Difference, ProgramDiff } from "../difference.ts";

/**
 * A diff each of whose texts is one line that acts on no terminal: names and rules of a configuration are in them, and
 * whoever wrote it may want to be misread.
 */
export function printableDiff({ differences, undecided, changedRoutes }: ProgramDiff): ProgramDiff {
  return {
    differences: differences.map(printableDifference),
    undecided: undecided.map(printable),
    changedRoutes,
  };
}

function printableDifference(difference: Difference): Difference {
  const { subject, change, when, unless, by, was, example } = difference;
  return {
    ...difference,
    subject: printable(subject),
    change: printable(change),
    when: when.map(printable),
    unless: unless.map(printable),
    by: by && { ...by, text: printable(by.text) },
    was: was && printable(was),
    example: example && printable(example),
  };
}
