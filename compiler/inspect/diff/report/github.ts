import { annotation } from "../../../diagnostics/report/github.ts";
import type { ProgramDiff } from "../difference.ts";
import { type DiffFiles, differenceLocation, differenceMessage } from "./difference-details.ts";
import { DIRECTION_LABEL, DIRECTION_SEVERITY, diffVerdict } from "./verdict.ts";

/** Renders a diff as GitHub workflow commands; differences without a location in the new files have no location. */
export function diffCommands(diff: ProgramDiff, files: DiffFiles): string {
  const lines = diff.differences.map((difference) => {
    const { direction } = difference;
    return annotation(
      DIRECTION_SEVERITY[direction],
      `gwc diff: ${DIRECTION_LABEL[direction]}`,
      differenceMessage(difference, files),
      differenceLocation(difference, files),
    );
  });
  const verdict = annotation("note", "gwc diff", diffVerdict(diff), undefined);
  return `${[verdict, ...lines].join("\n")}\n`;
}
