import { pathToFileURL } from "node:url";
import {
  type Diagnostic,
  DiagnosticSeverity,
  type Location as EditorLocation,
  type Range,
} from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Severity } from "../diagnostics/messages/message.ts";
import type { Finding } from "../diagnostics/report/findings.ts";
import type { Location } from "../diagnostics/source.ts";

/** Returns findings as diagnostics of an editor, by the path of their file. */
export function editorDiagnostics(
  findings: readonly Finding[],
): ReadonlyMap<string, readonly Diagnostic[]> {
  const byPath = Map.groupBy(findings, ({ location }) => location.path);
  return new Map([...byPath].map(([file, each]) => [file, each.map(editorDiagnostic)]));
}

/** Returns a finding as a diagnostic of an editor. */
export function editorDiagnostic(finding: Finding): Diagnostic {
  const { code, severity, message, hint, location, related } = finding;
  return {
    range: rangeOf(location),
    severity: SEVERITIES[severity],
    code,
    source: "gwc",
    message: hint === undefined ? message : `${message}\nhint: ${hint}`,
    ...(related.length > 0 && {
      relatedInformation: related.map((each) => ({
        location: locationOf(each.location),
        message: each.label,
      })),
    }),
  };
}

const SEVERITIES: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
};

/** Converts a location of gwc to one of an editor. */
export function locationOf(location: Location): EditorLocation {
  return { uri: pathToFileURL(location.path).href, range: rangeOf(location) };
}

function rangeOf({ text, start, end }: Location): Range {
  // An empty range is invisible: the rest of its line is shown.
  const lineEnd = text.indexOf("\n", start);
  const shown = end > start ? end : lineEnd < 0 ? text.length : lineEnd;
  // Its lines are those of the protocol: YAML does not end a line at a carriage return alone, and editors do.
  const document = TextDocument.create("", "yaml", 0, text);
  return { start: document.positionAt(start), end: document.positionAt(shown) };
}
