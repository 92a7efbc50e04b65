import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { type DiffFormat, diffReport } from "../../compiler/inspect/diff/report/diff-report.ts";

/** Returns the output of `gwc diff old.yaml new.yaml` for two texts; neither may have mistakes. */
export function diffOf(from: string, to: string, format: DiffFormat = "text"): string {
  const [before, after] = [from, to].map((text, index) => {
    const file = index === 0 ? "old.yaml" : "new.yaml";
    return checkInput([file], memoryHost({ [file]: text }), false);
  });
  if (before?.program === undefined || after?.program === undefined)
    throw new Error(
      [before, after].flatMap((side) => side?.findings.map(({ message }) => message)).join("\n"),
    );
  const diff = programDiff(before.program, after.program);
  return diffReport(format, diff, { before: before.files, after: after.files });
}

/** The first line of what was said. */
export function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
