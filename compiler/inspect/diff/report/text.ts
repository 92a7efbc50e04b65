import type { Difference, ProgramDiff } from "../difference.ts";
import { type DiffFiles, differenceDetails } from "./difference-details.ts";
import { DIRECTION_LABEL, diffVerdict } from "./verdict.ts";

/** Renders a diff for a terminal: the verdict, then each difference with its details. */
export function diffText(diff: ProgramDiff, files: DiffFiles): string {
  const parts = [
    diffVerdict(diff),
    ...diff.differences.map((each) => differenceText(each, files)),
    ...(diff.undecided.length === 0 ? [] : [undecidedText(diff.undecided)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function differenceText(difference: Difference, files: DiffFiles): string {
  const { direction, subject, change } = difference;
  const head = `${DIRECTION_LABEL[direction].padEnd(8)}${subject}   ${change}`;
  return [
    head,
    ...differenceDetails(difference, files).map(
      ([name, text]) => `        ${name.padEnd(8)}${text}`,
    ),
  ].join("\n");
}

function undecidedText(undecided: readonly string[]): string {
  const lines = undecided.map((text) => `        ${text}`);
  const count = undecided.length === 1 ? "1 question" : `${undecided.length} questions`;
  return [
    `UNDECIDED  ${count}: no example request was found, but a difference cannot be excluded`,
    ...lines,
  ].join("\n");
}
