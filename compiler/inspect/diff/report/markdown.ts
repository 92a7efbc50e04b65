import type { ProgramDiff } from "../difference.ts";
import { type DiffFiles, differenceDetails } from "./difference-details.ts";
import { DIRECTION_LABEL, diffVerdict } from "./verdict.ts";

/** A diff as the comment of a pull request. */
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

/** Text as it is, unless Markdown could make a link, a picture, a mention or HTML of it. */
function plain(text: string): string {
  return /[`*<[\]@~\\]/.test(text) ? codeSpan(text) : text;
}

/** Text that Markdown leaves alone, whatever backquotes it has. */
function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const line = text.replaceAll("\n", " ");
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}
