import { locate } from "../../../diagnostics/source.ts";
import type { ProgramDiff, SidePlace } from "../difference.ts";
import type { DiffFiles } from "./difference-details.ts";
import { diffVerdict } from "./verdict.ts";

/** Renders a diff as JSON. */
export function diffJson(diff: ProgramDiff, files: DiffFiles): string {
  const { differences, undecided, changedRoutes } = diff;
  const value = {
    verdict: diffVerdict(diff),
    differences: differences.map(({ by, wasBy: _, ...rest }) => ({
      ...rest,
      ...(by && { by: placeJson(by, files) }),
    })),
    undecided,
    changedRoutes,
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function placeJson({ side, origin, text }: SidePlace, files: DiffFiles): object {
  const { path, line, column } = locate(origin, files[side]);
  return { side, file: path, line, column, text };
}
