import type { ProgramDiff } from "../difference.ts";
import type { DiffFiles } from "./difference-details.ts";
import { diffCommands } from "./github.ts";
import { diffJson } from "./json.ts";
import { diffMarkdown } from "./markdown.ts";
import { printableDiff } from "./printable-diff.ts";
import { diffSarif } from "./sarif.ts";
import { diffText } from "./text.ts";

/** Output format of a diff. */
export type DiffFormat = "text" | "json" | "markdown" | "sarif" | "github";

/** Renders a diff in a format. */
export function diffReport(format: DiffFormat, found: ProgramDiff, files: DiffFiles): string {
  if (format === "json") return diffJson(found, files);
  const diff = printableDiff(found);
  switch (format) {
    case "text":
      return diffText(diff, files);
    case "markdown":
      return diffMarkdown(diff, files);
    case "github":
      return diffCommands(diff, files);
    case "sarif":
      return diffSarif(diff, files);
  }
}
