import type { Severity } from "../messages/message.ts";
import type { Location } from "../source.ts";
import type { Finding } from "./findings.ts";
import { textRegion } from "./json.ts";

/** Formats findings as GitHub workflow commands: annotations on the lines of a pull request. */
export function githubReport(findings: readonly Finding[]): string {
  return findings.map((finding) => `${command(finding)}\n`).join("");
}

function command({ code, severity, message, hint, location }: Finding): string {
  const text = hint === undefined ? message : `${message}\nhint: ${hint}`;
  return annotation(severity, `gwc ${code}`, text, location);
}

/** Formats a workflow command that shows a message with a title, on its lines or without a place. */
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
    // Columns are only valid within one line.
    ...(line === endLine ? [`col=${column}`, `endColumn=${endColumn}`] : []),
  ];
}

/** Escapes a message: line breaks would end the command, and `%` starts an escape. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
