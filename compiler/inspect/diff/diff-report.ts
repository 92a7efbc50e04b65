import type { Origin } from "../../diagnostics/diagnostic.ts";
import { textRegion } from "../../diagnostics/report/json.ts";
import { locate, type SourceFile } from "../../diagnostics/source.ts";
import type { Difference, ProgramDiff, SidePlace } from "./difference.ts";

/** The files of both sides, for places. */
export interface DiffFiles {
  readonly before: readonly SourceFile[];
  readonly after: readonly SourceFile[];
}

/** How differences are written. */
export type DiffFormat = "text" | "json" | "markdown" | "sarif" | "github";

/** A diff in a format. */
export function diffReport(format: DiffFormat, diff: ProgramDiff, files: DiffFiles): string {
  switch (format) {
    case "text":
      return diffText(diff, files);
    case "json":
      return `${JSON.stringify(diffJson(diff, files), undefined, 2)}\n`;
    case "markdown":
      return diffMarkdown(diff, files);
    case "github":
      return diffCommands(diff, files);
    case "sarif":
      return `${JSON.stringify(diffSarif(diff, files), undefined, 2)}\n`;
  }
}

/** The first line, which says it all: `2 differences: 1 OPENS, 1 CHANGES`. */
export function diffVerdict({ differences, undecided, changedRoutes }: ProgramDiff): string {
  const count = differences.length;
  if (count > 0) {
    const kinds = (["opens", "closes", "changes"] as const).flatMap((direction) => {
      const some = differences.filter((each) => each.direction === direction).length;
      return some === 0 ? [] : `${some} ${some === 1 ? LABEL[direction] : PLURAL[direction]}`;
    });
    return `${count} ${count === 1 ? "difference" : "differences"}: ${kinds.join(", ")}`;
  }
  if (undecided.length > 0) return `no difference found, and ${undecided.length} not decided`;
  const routes = changedRoutes === 1 ? "1 route" : `${changedRoutes} routes`;
  const text = changedRoutes === 0 ? "" : `: ${routes} changed in text, decided exactly`;
  return `no request is treated differently${text}`;
}

const LABEL = { opens: "OPENS", closes: "CLOSES", changes: "CHANGES" } as const;
const PLURAL = { opens: "OPEN", closes: "CLOSE", changes: "CHANGE" } as const;

function diffText(diff: ProgramDiff, files: DiffFiles): string {
  const parts = [
    diffVerdict(diff),
    ...diff.differences.map((each) => differenceText(each, files)),
    ...(diff.undecided.length === 0 ? [] : [undecidedText(diff.undecided)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function differenceText(difference: Difference, files: DiffFiles): string {
  const { direction, subject, change } = difference;
  const head = `${LABEL[direction].padEnd(8)}${subject}   ${change}`;
  return [
    head,
    ...detailsOf(difference, files).map(([name, text]) => `        ${name.padEnd(8)}${text}`),
  ].join("\n");
}

/** What there is to say of a difference, each with its label. */
function detailsOf(
  { when, unless, by, was, wasBy, example }: Difference,
  files: DiffFiles,
): readonly (readonly [string, string])[] {
  const details: readonly (readonly [string, string | undefined])[] = [
    ["when", when.length === 0 ? undefined : when.join(", ")],
    ["unless", unless.length === 0 ? undefined : unless.join(", ")],
    ["by", by && sideText(by, files)],
    ["was", wasBy === undefined ? was : `${was}  (base ${placeIn(wasBy, files.before)})`],
    ["e.g.", example],
  ];
  return details.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

/** `gateway.yaml:27:15  jwt.sub == "a"`; places of the old configuration say so. */
function sideText({ side, origin, text }: SidePlace, files: DiffFiles): string {
  const base = side === "before" ? "base " : "";
  return `${base}${placeIn(origin, files[side])}  ${text}${side === "before" ? "  (removed)" : ""}`;
}

function placeIn(origin: Origin, files: readonly SourceFile[]): string {
  const { path, line, column } = locate(origin, files);
  return `${path}:${line}:${column}`;
}

function undecidedText(undecided: readonly string[]): string {
  const lines = undecided.map((text) => `        ${text}`);
  const count = undecided.length === 1 ? "1 question" : `${undecided.length} questions`;
  return [
    `UNDECIDED  ${count}: no request was found that shows a difference, and none is ruled out`,
    ...lines,
  ].join("\n");
}

function diffMarkdown(diff: ProgramDiff, files: DiffFiles): string {
  const { differences, undecided } = diff;
  const icons = { opens: "🔓", closes: "🔒", changes: "✏️" } as const;
  const parts = differences.map((difference) => {
    const { direction, subject, change } = difference;
    const details = detailsOf(difference, files).map(
      ([name, text]) => `- ${name} ${codeSpan(text)}`,
    );
    return `#### ${icons[direction]} ${LABEL[direction]}: ${subject}\n\n**${change}**\n\n${details.join("\n")}`.trimEnd();
  });
  const open =
    undecided.length === 0
      ? []
      : [`#### Undecided\n\n${undecided.map((text) => `- ${codeSpan(text)}`).join("\n")}`];
  return `${[`### ${diffVerdict(diff)}`, ...parts, ...open].join("\n\n")}\n`;
}

/** Text that Markdown leaves alone, whatever backquotes it has. */
function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const line = text.replaceAll("\n", " ");
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

function diffJson(diff: ProgramDiff, files: DiffFiles): object {
  const { differences, undecided, changedRoutes } = diff;
  return {
    verdict: diffVerdict(diff),
    differences: differences.map(({ by, wasBy: _, ...rest }) => ({
      ...rest,
      ...(by && { by: placeJson(by, files) }),
    })),
    undecided,
    changedRoutes,
  };
}

function placeJson({ side, origin, text }: SidePlace, files: DiffFiles): object {
  const { path, line, column } = locate(origin, files[side]);
  return { side, file: path, line, column, text };
}

/** How serious a difference is to those who annotate pull requests. */
const LEVEL = { opens: "warning", closes: "note", changes: "note" } as const;

function messageOf(difference: Difference, files: DiffFiles): string {
  const { subject, change } = difference;
  const details = detailsOf(difference, files).map(([name, text]) => `${name} ${text}`);
  return [`${LABEL[difference.direction]} ${subject}: ${change}`, ...details].join("\n");
}

/** Workflow commands; what has no place in the new files has none here. */
function diffCommands(diff: ProgramDiff, files: DiffFiles): string {
  const data = (text: string): string =>
    text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const lines = diff.differences.map((difference) => {
    const { by, direction } = difference;
    const kind = LEVEL[direction] === "note" ? "notice" : "warning";
    const title = `title=gwc diff%3A ${LABEL[direction]}`;
    const at = by?.side === "after" ? locate(by.origin, files.after) : undefined;
    const place =
      at === undefined
        ? ""
        : `file=${data(at.path).replaceAll(",", "%2C").replaceAll(":", "%3A")},line=${at.line},`;
    return `::${kind} ${place}${title}::${data(messageOf(difference, files))}\n`;
  });
  return `::notice title=gwc diff::${data(diffVerdict(diff))}\n${lines.join("")}`;
}

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

function diffSarif(diff: ProgramDiff, files: DiffFiles): object {
  const rules = (["opens", "closes", "changes"] as const).map((id) => ({
    id,
    shortDescription: { text: `what a change ${id}` },
    defaultConfiguration: { level: LEVEL[id] },
  }));
  const results = diff.differences.map((difference) => {
    const { by, direction } = difference;
    const at = by?.side === "after" ? locate(by.origin, files.after) : undefined;
    const region = at && textRegion(at);
    return {
      ruleId: direction,
      level: LEVEL[direction],
      message: { text: messageOf(difference, files) },
      locations:
        at === undefined || region === undefined
          ? []
          : [
              {
                physicalLocation: {
                  artifactLocation: { uri: at.path.split("/").map(encodeURIComponent).join("/") },
                  region: { startLine: region.line, startColumn: region.column },
                },
              },
            ],
    };
  });
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "gwc diff", rules } }, results }],
  };
}
