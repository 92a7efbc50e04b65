/** One row of the message table. `Params` is what the texts need; a missing parameter does not compile. */
export interface DiagnosticMessage<Params> {
  readonly severity: Severity;
  /** What is wrong: one sentence, names in double quotes, no full stop. */
  readonly text: (params: Params) => string;
  /** What to do, spelled out; nothing when the message says it all. */
  readonly hint?: (params: Params) => string | undefined;
  /** The long text of `gwc explain CODE`: why it is refused and what to write instead, in Markdown. */
  readonly explanation: string;
}

/** Declares a row, so that its parameters are checked where it is reported. */
export function message<Params>(row: DiagnosticMessage<Params>): DiagnosticMessage<Params> {
  return row;
}

/** `did you mean "jwtAuth"?`, or nothing. */
export function didYouMean(suggestion: string | undefined): string | undefined {
  return suggestion === undefined ? undefined : `did you mean "${suggestion}"?`;
}

/** How bad a diagnostic is. `--strict` makes errors of warnings. */
export type Severity = "error" | "warning" | "note";
