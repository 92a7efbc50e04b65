import type { Finding } from "./findings.ts";
import { textRegion } from "./json.ts";

/** Findings as GitHub workflow commands: annotations on the lines of a pull request. */
export function githubReport(findings: readonly Finding[]): string {
  return findings.map((finding) => `${command(finding)}\n`).join("");
}

function command({ code, severity, message, hint, location }: Finding): string {
  const { line, column, endLine, endColumn } = textRegion(location);
  const kind = severity === "note" ? "notice" : severity;
  const properties = [
    `file=${property(location.path)}`,
    `line=${line}`,
    `endLine=${endLine}`,
    // Columns mean something on one line only.
    ...(line === endLine ? [`col=${column}`, `endColumn=${endColumn}`] : []),
    `title=${property(`gwc ${code}`)}`,
  ];
  const text = hint === undefined ? message : `${message}\nhint: ${hint}`;
  return `::${kind} ${properties.join(",")}::${data(text)}`;
}

/** Line breaks would end the command, and `%` starts an escape. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
