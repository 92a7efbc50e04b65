import { physicalLocation, sarifLog } from "../../../diagnostics/report/sarif.ts";
import type { ProgramDiff } from "../difference.ts";
import { type DiffFiles, differenceLocation, differenceMessage } from "./difference-details.ts";
import { DIRECTION_SEVERITY } from "./verdict.ts";

/** Renders a diff as a SARIF log: a rule for each direction, a result for each difference. */
export function diffSarif(diff: ProgramDiff, files: DiffFiles): string {
  const rules = (["opens", "closes", "changes"] as const).map((id) => ({
    id,
    shortDescription: { text: `what a change ${id}` },
    defaultConfiguration: { level: DIRECTION_SEVERITY[id] },
  }));
  const results = diff.differences.map((difference) => {
    const { direction } = difference;
    const location = differenceLocation(difference, files);
    return {
      ruleId: direction,
      level: DIRECTION_SEVERITY[direction],
      message: { text: differenceMessage(difference, files) },
      locations: location === undefined ? [] : [{ physicalLocation: physicalLocation(location) }],
    };
  });
  return sarifLog({ name: "gwc diff", rules }, results);
}
