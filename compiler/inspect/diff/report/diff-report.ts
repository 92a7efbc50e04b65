import type { Origin } from "../../../diagnostics/diagnostic.ts";
import { type Paint, painter } from "../../../diagnostics/report/colors.ts";
import { printable } from "../../../diagnostics/report/display-width.ts";
import { annotation } from "../../../diagnostics/report/github.ts";
import { physicalLocation, sarifLog } from "../../../diagnostics/report/sarif.ts";
import {
  type Location,
  locate,
  locationText,
  type SourceFile,
} from "../../../diagnostics/source.ts";
import type { Difference, ProgramDiff, SidePlace } from "../difference.ts";
import { RENDERED } from "../rendered-side.ts";

/** Output format of a diff. */
export type DiffFormat = "text" | "json" | "markdown" | "sarif" | "github";

/** Renders a diff in a format. `isColored`: whether text has the colors of terminals. */
export function diffReport(
  format: DiffFormat,
  found: ProgramDiff,
  files: DiffFiles,
  isColored = false,
): string {
  if (format === "json") return diffJson(found, files);
  const diff = printableDiff(found);
  switch (format) {
    case "text":
      return diffText(diff, files, painter(isColored));
    case "markdown":
      return diffMarkdown(diff, files);
    case "github":
      return diffCommands(diff, files);
    case "sarif":
      return diffSarif(diff, files);
  }
}

/** Renders a diff as JSON. */
function diffJson(diff: ProgramDiff, files: DiffFiles): string {
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
  const written = side === "after" ? files.written?.(origin, files.after) : undefined;
  const from = written && { file: written.path, line: written.line, column: written.column };
  return { side, file: path, line, column, text, ...(from && { from }) };
}

/**
 * Escapes all strings of a diff to single lines without control characters: they contain names and rules, whose author may
 * want to mislead the reader.
 */
function printableDiff({ differences, undecided, changedRoutes }: ProgramDiff): ProgramDiff {
  return {
    differences: differences.map(printableDifference),
    undecided: undecided.map(printable),
    changedRoutes,
  };
}

function printableDifference(difference: Difference): Difference {
  const { subject, change, when, unless, by, was, example, lines } = difference;
  return {
    ...difference,
    subject: printable(subject),
    change: printable(change),
    when: when.map(printable),
    unless: unless.map(printable),
    by: by && { ...by, text: printable(by.text) },
    was: was && printable(was),
    example: example && printable(example),
    lines: lines.map(printable),
  };
}

/** Renders a diff for a terminal: the verdict, then each difference with its details. */
function diffText(diff: ProgramDiff, files: DiffFiles, paint: Paint): string {
  const parts = [
    paint("bold", diffVerdict(diff)),
    ...diff.differences.map((each) => differenceText(each, files, paint)),
    ...(diff.undecided.length === 0 ? [] : [undecidedText(diff.undecided, paint)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function differenceText(difference: Difference, files: DiffFiles, paint: Paint): string {
  const { direction, subject, change } = difference;
  const label = paint(DIRECTION_STYLE[direction], DIRECTION_LABEL[direction].padEnd(8));
  return [
    `${label}${paint("bold", subject)}   ${change}`,
    ...differenceDetails(difference, files).map(
      ([name, text]) => `        ${paint("cyan", name.padEnd(8))}${text}`,
    ),
    ...difference.lines.map((line) => `        ${paintedLine(line, paint)}`),
  ].join("\n");
}

function paintedLine(line: string, paint: Paint): string {
  const style = ({ "+": "green", "-": "red", "@": "cyan" } as const)[line.charAt(0)];
  return style === undefined ? line : paint(style, line);
}

function undecidedText(undecided: readonly string[], paint: Paint): string {
  const lines = undecided.map((text) => `        ${text}`);
  const count = undecided.length === 1 ? "1 question" : `${undecided.length} questions`;
  return [
    `${paint("yellow", "UNDECIDED")}  ${count}: no example request was found, but a difference cannot be excluded`,
    ...lines,
  ].join("\n");
}

/** Renders a diff as a pull request comment. */
function diffMarkdown(diff: ProgramDiff, files: DiffFiles): string {
  const { differences, undecided } = diff;
  const icons = { opens: "🔓", closes: "🔒", changes: "✏️" } as const;
  const parts = differences.map((difference) => {
    const { direction, subject, change } = difference;
    const details = differenceDetails(difference, files).map(
      ([name, text]) => `- ${name} ${codeSpan(text)}`,
    );
    const head = `#### ${icons[direction]} ${DIRECTION_LABEL[direction]}: ${plain(subject)}\n\n**${plain(change)}**`;
    return `${head}\n\n${details.join("\n")}${codeBlock(difference.lines)}`.trimEnd();
  });
  const open =
    undecided.length === 0
      ? []
      : [`#### Undecided\n\n${undecided.map((text) => `- ${codeSpan(text)}`).join("\n")}`];
  return `${[`### ${diffVerdict(diff, plain)}`, ...parts, ...open].join("\n\n")}\n`;
}

/** Formats changed lines as a block, whose fence is longer than any run of backquotes in them. */
function codeBlock(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const runs = lines.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run + 1)));
  return `\n\n${fence}diff\n${lines.join("\n")}\n${fence}`;
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

/** Renders a diff as GitHub workflow commands; differences without a location in the new files have no location. */
function diffCommands(diff: ProgramDiff, files: DiffFiles): string {
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

/** Renders a diff as a SARIF log: a rule for each direction, a result for each difference. */
function diffSarif(diff: ProgramDiff, files: DiffFiles): string {
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

/** Files of both sides, for locations. */
export interface DiffFiles {
  readonly before: readonly SourceFile[];
  readonly after: readonly SourceFile[];
  /** Finds the file and line that a place of rendered manifests comes from; absent for configurations that are files. */
  readonly written?: (place: Origin, rendered: readonly SourceFile[]) => Location | undefined;
}

/** Returns the labeled details of a difference. */
export function differenceDetails(
  { when, unless, by, was, wasBy, example }: Difference,
  files: DiffFiles,
): readonly (readonly [string, string])[] {
  const details: readonly (readonly [string, string | undefined])[] = [
    ["when", when.length === 0 ? undefined : when.join(", ")],
    ["unless", unless.length === 0 ? undefined : unless.join(", ")],
    ["by", by && sideText(by, files)],
    [
      "was",
      wasBy === undefined ? was : `${was}  (base ${locationText(locate(wasBy, files.before))})`,
    ],
    ["e.g.", example],
  ];
  return details.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

/**
 * Formats `gateway.yaml:27:15  jwt.sub == "a"`; locations in the old configuration are marked with `base`. Rendered
 * manifests are named, with the file that they come from if it is known.
 */
function sideText({ side, origin, text }: SidePlace, files: DiffFiles): string {
  const base = side === "before" ? "base " : "";
  const at = locate(origin, files[side]);
  const object = at.path === RENDERED && origin.resource ? `${origin.resource.name}, ` : "";
  const written = side === "after" ? files.written?.(origin, files.after) : undefined;
  const from = written === undefined ? "" : `, from ${locationText(written)}`;
  return `${base}${object}${locationText(at)}${from}  ${text}${side === "before" ? "  (removed)" : ""}`;
}

/** Formats a difference as the message of an annotation. */
function differenceMessage(difference: Difference, files: DiffFiles): string {
  const { subject, change, direction, lines } = difference;
  const details = differenceDetails(difference, files).map(([name, text]) => `${name} ${text}`);
  return [`${DIRECTION_LABEL[direction]} ${subject}: ${change}`, ...details, ...lines].join("\n");
}

/** Returns the location of a difference in the new files; `undefined` if it has none there. */
function differenceLocation({ by }: Difference, files: DiffFiles): Location | undefined {
  if (by?.side !== "after") return undefined;
  const found = locate(by.origin, files.after);
  return found.path === RENDERED ? files.written?.(by.origin, files.after) : found;
}

/**
 * Formats the first line: `2 differences: 1 OPENS, 1 CHANGES: route a (:80 /a), 401 -> served; and 1 more`.
 * `quote` escapes strings of the configuration.
 */
export function diffVerdict(
  { differences, undecided, changedRoutes }: ProgramDiff,
  quote: (text: string) => string = (text) => text,
): string {
  const count = differences.length;
  if (count > 0) {
    const kinds = (["opens", "closes", "changes"] as const).flatMap((direction) => {
      const some = differences.filter((each) => each.direction === direction).length;
      return some === 0
        ? []
        : `${some} ${some === 1 ? DIRECTION_LABEL[direction] : PLURAL[direction]}`;
    });
    const [riskiest] = differences;
    const what =
      riskiest === undefined ? "" : `: ${quote(riskiest.subject)}, ${quote(riskiest.change)}`;
    const more = count === 1 ? "" : `; and ${count - 1} more`;
    return `${count} ${count === 1 ? "difference" : "differences"}: ${kinds.join(", ")}${what}${more}`;
  }
  if (undecided.length > 0) return `no difference found, and ${undecided.length} not decided`;
  const routes = changedRoutes === 1 ? "1 route" : `${changedRoutes} routes`;
  const text = changedRoutes === 0 ? "" : `: ${routes} changed in text, decided exactly`;
  return `no request is treated differently${text}`;
}

/** Headline label of each direction. */
export const DIRECTION_LABEL = { opens: "OPENS", closes: "CLOSES", changes: "CHANGES" } as const;
const DIRECTION_STYLE = { opens: "red", closes: "green", changes: "yellow" } as const;
const PLURAL = { opens: "OPEN", closes: "CLOSE", changes: "CHANGE" } as const;

/** Severity of each direction in annotations. */
const DIRECTION_SEVERITY = { opens: "warning", closes: "note", changes: "note" } as const;
