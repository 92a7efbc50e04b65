/** One row of the message table. `Params` are the parameters of its strings; a missing one does not compile. */
export interface DiagnosticMessage<Params> {
  readonly severity: Severity;
  /** States what is wrong: one sentence, names in double quotes, no full stop. */
  readonly text: (params: Params) => string;
  /** Says what to do; `undefined` if the message already does. */
  readonly hint?: (params: Params) => string | undefined;
  /** Output of `gwc explain CODE` in Markdown: why it is refused and what to write instead. */
  readonly explanation: string;
}

/** Declares a row, so that the compiler checks its parameters wherever the code is reported. */
export function message<Params>(row: DiagnosticMessage<Params>): DiagnosticMessage<Params> {
  return row;
}

/** Returns `did you mean "jwtAuth"?`, or `undefined` if there is no suggestion. */
export function didYouMean(suggestion: string | undefined): string | undefined {
  return suggestion === undefined ? undefined : `did you mean "${suggestion}"?`;
}

/** Returns the text that a hint says to write: `did you mean "X"?`, "write `X`"; `undefined` if it names none. */
export function replacementIn(hint: string): string | undefined {
  const [, meant, written] =
    /^did you mean "(.+)"\?$|^(?:[^`]* )?write `([^`…]+)`$/.exec(hint) ?? [];
  return meant ?? written;
}

/** Severity of a diagnostic. `--strict` turns warnings into errors. */
export type Severity = "error" | "warning" | "note";
