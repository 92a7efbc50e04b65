import type { celMessages } from "../../diagnostics/messages/cel.ts";
import type { DiagnosticMessage } from "../../diagnostics/messages/message.ts";
import type { Span } from "./ast.ts";

type CelCode = keyof typeof celMessages;
type ParamsOf<Code extends CelCode> =
  (typeof celMessages)[Code] extends DiagnosticMessage<infer Params> ? Params : never;

/** A mistake in an expression or a pattern: a diagnostic that does not know its file yet. */
export type CelProblem = {
  [Code in CelCode]: {
    readonly code: Code;
    readonly params: ParamsOf<Code>;
    /** Offsets in the text of the expression (or the pattern). */
    readonly within: Span;
  };
}[CelCode];

/** Collects the mistakes of one expression. */
export class Problems {
  readonly list: CelProblem[] = [];

  report<Code extends CelCode>(code: Code, within: Span, params: ParamsOf<Code>): void {
    // `as`: the mapped union can't be built from a generic code
    this.list.push({ code, params, within } as unknown as CelProblem);
  }
}
