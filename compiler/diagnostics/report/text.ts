import { type Location, locationText } from "../source.ts";
import { type Paint, painter } from "./colors.ts";
import { type Finding, totals } from "./findings.ts";
import { type FrameLine, frameLine } from "./frame.ts";

const COLORS = { error: "red", warning: "yellow", note: "cyan" } as const;

/** Maximum number of findings that are printed. */
const LIMIT = 100;

/** Formats findings for people: message, place, source with a marker, related places, hint; totals at the end. */
export function textReport(findings: readonly Finding[], isColored: boolean): string {
  const paint = painter(isColored);
  if (findings.length === 0) return "";
  const shown = findings.slice(0, LIMIT).map((finding) => findingText(finding, paint));
  const rest = findings.length - shown.length;
  if (rest > 0) shown.push(`... and ${rest} more (\`gwc check --format json\` prints all)\n`);
  return `${shown.join("\n")}\n${totals(findings)}\n`;
}

function findingText(finding: Finding, paint: Paint): string {
  const { code, severity, message, hint, location, related } = finding;
  const color = COLORS[severity];
  const frame = frameLine(location, code);
  const frames = related.map((each) => frameLine(each.location, code));
  const gutter = Math.max(
    2,
    ...[frame, ...frames].map((each) => String(each?.number ?? "").length + 1),
  );
  const lines = [
    `${paint([color, "bold"], `${severity}[${code}]`)}${paint("bold", `: ${message}`)}`,
    placeLine("-->", location, gutter, paint),
    ...frameLines(frame, "^", "", gutter, (text) => paint(color, text), paint),
  ];
  related.forEach(({ label, location: place }, index) => {
    lines.push(placeLine("::>", place, gutter, paint));
    lines.push(
      ...frameLines(frames[index], "-", ` ${label}`, gutter, (text) => paint("cyan", text), paint),
    );
  });
  if (hint !== undefined)
    lines.push(`${" ".repeat(gutter)}${paint("cyan", "=")} ${paint("bold", "hint:")} ${hint}`);
  return `${lines.join("\n")}\n`;
}

function placeLine(arrow: string, location: Location, gutter: number, paint: Paint): string {
  return `${" ".repeat(gutter - 1)}${paint("cyan", arrow)} ${locationText(location)}`;
}

function frameLines(
  frame: FrameLine | undefined,
  mark: string,
  label: string,
  gutter: number,
  emphasise: (text: string) => string,
  paint: Paint,
): string[] {
  if (frame === undefined) return [];
  const bar = paint("cyan", "|");
  const number = paint("cyan", String(frame.number).padStart(gutter - 1));
  const marks = emphasise(mark.repeat(frame.markWidth) + label);
  return [
    `${number} ${bar} ${frame.text}`,
    `${" ".repeat(gutter)}${bar} ${" ".repeat(frame.markStart)}${marks}`,
  ];
}
