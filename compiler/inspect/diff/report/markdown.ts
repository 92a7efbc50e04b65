import type { ProgramDiff } from "../difference.ts";
import { type DiffFiles, differenceDetails } from "./difference-details.ts";
import { DIRECTION_LABEL, diffVerdict } from "./verdict.ts";

/** Renders a diff as a pull request comment. */
export function diffMarkdown(diff: ProgramDiff, files: DiffFiles): string {
  const { differences, undecided } = diff;
  const icons = { opens: "🔓", closes: "🔒", changes: "✏️" } as const;
  const parts = differences.map((difference) => {
    const { direction, subject, change } = difference;
    const details = differenceDetails(difference, files).map(
      ([name, text]) => `- ${name} ${codeSpan(text)}`,
    );
    return `#### ${icons[direction]} ${DIRECTION_LABEL[direction]}: ${plain(subject)}\n\n**${plain(change)}**\n\n${details.join("\n")}`.trimEnd();
  });
  const open =
    undecided.length === 0
      ? []
      : [`#### Undecided\n\n${undecided.map((text) => `- ${codeSpan(text)}`).join("\n")}`];
  return `${[`### ${diffVerdict(diff, plain)}`, ...parts, ...open].join("\n\n")}\n`;
}

/** Quotes a string as code if Markdown could render it as a link, image, mention or HTML. */
function plain(text: string): string {
  return /[`*<[\]@~\\]/.test(text) ? codeSpan(text) : text;
}

/** Formats a code span for a string that may contain backquotes. */
function codeSpan(text: string): string {
  const maxRun = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(maxRun + 1);
  const line = text.replaceAll("\n", " ");
  return maxRun === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}
