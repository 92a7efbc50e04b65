import { printable } from "../../../diagnostics/report/display-width.ts";
import type { Difference, ProgramDiff } from "../difference.ts";

/**
 * Escapes all strings of a diff to single lines without control characters: they contain names and rules, whose author may
 * want to mislead the reader.
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
