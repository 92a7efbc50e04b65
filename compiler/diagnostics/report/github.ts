import type { Severity } from "../messages/message.ts";
import type { Location } from "../source.ts";
import type { Finding } from "./findings.ts";
import { textRegion } from "./json.ts";

/** Findings as GitHub workflow commands: annotations on the lines of a pull request. */
export function githubReport(findings: readonly Finding[]): string {
  return findings.map((finding) => `${command(finding)}\n`).join("");
}

function command({ code, severity, message, hint, location }: Finding): string {
  const text = hint === undefined ? message : `${message}\nhint: ${hint}`;
  return annotation(severity, `gwc ${code}`, text, location);
}

/** A workflow command that shows a text with a title: on its lines, or on none in particular. */
export function annotation(
  severity: Severity,
  title: string,
  text: string,
  location: Location | undefined,
): string {
  const kind = severity === "note" ? "notice" : severity;
  const place = location === undefined ? [] : placeProperties(location);
  return `::${kind} ${[...place, `title=${property(title)}`].join(",")}::${data(text)}`;
}

function placeProperties(location: Location): readonly string[] {
  const { line, column, endLine, endColumn } = textRegion(location);
  return [
    `file=${property(location.path)}`,
    `line=${line}`,
    `endLine=${endLine}`,
    // Columns mean something on one line only.
    ...(line === endLine ? [`col=${column}`, `endColumn=${endColumn}`] : []),
  ];
}

/** Line breaks would end the command, and `%` starts an escape. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
