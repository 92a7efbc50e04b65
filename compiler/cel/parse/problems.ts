import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import type { celMessages } from "../../diagnostics/messages/cel.ts";
import type { DiagnosticMessage } from "../../diagnostics/messages/message.ts";
import type { Span } from "./ast.ts";

type CelCode = keyof typeof celMessages;
type ParamsOf<Code extends CelCode> =
  (typeof celMessages)[Code] extends DiagnosticMessage<infer Params> ? Params : never;

/** A mistake in an expression or a pattern: a diagnostic without a file. */
export type CelProblem = {
  [Code in CelCode]: {
    readonly code: Code;
    readonly params: ParamsOf<Code>;
    /** Offsets in the expression or pattern. */
    readonly within: Span;
  };
}[CelCode];

/** Collects the mistakes of an expression. */
export class Problems {
  readonly #list: CelProblem[] = [];

  get list(): readonly CelProblem[] {
    return this.#list;
  }

  report<Code extends CelCode>(code: Code, within: Span, params: ParamsOf<Code>): void {
    // `as`: the mapped union cannot be built from a generic code.
    this.add({ code, params, within } as unknown as CelProblem);
  }

  add(problem: CelProblem): void {
    this.#list.push(problem);
  }
}

/** Adds the mistakes of an expression to the diagnostics; `origin` is the place of the expression. */
export function addProblems(
  problems: readonly CelProblem[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  for (const { within, ...problem } of problems) {
    diagnostics.add({ ...problem, at: { ...origin, within } });
  }
}
