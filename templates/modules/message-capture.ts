import type { MessageCaptureNode } from "../../compiler/ir/message-capture.ts";
import { patternCode } from "../backends/ai/guards.ts";
import { code, comment, join, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Hole } from "../code/hole.ts";
import { returned } from "../code/layout.ts";
import { logVariables } from "../code/log-variables.ts";
import { imported, importedType, name } from "../code/names.ts";
import { call } from "../code/syntax.ts";
import type { Trace } from "../code/trace.ts";
import { nonEmpty } from "../code/units.ts";

/** Names that modules with a capture declare themselves. */
export const CAPTURE_NAMES: readonly string[] = ["messages", "samplesMessages"];

/** Writes the constant `messages`: which messages of calls to models are exported. */
export function messageCapture(
  { sampling, input, output, maxBytes, redact, origin }: MessageCaptureNode,
  { trace, expressions, isShared }: CaptureContext,
): readonly Hole[] {
  const source = sampling?.value.source;
  const isConstant = source === "true" || source === "false";
  const settings = {
    samples:
      sampling === undefined || source === "true"
        ? undefined
        : isConstant
          ? imported(SAMPLING, "never")
          : name("samplesMessages"),
    ...{ input, output, maxBytes },
    redact: nonEmpty(redact.map(patternCode)),
  };
  const type = importedType("gwc/runtime/telemetry/message-capture", "MessageCapture");
  const open = imported("gwc/runtime/llm/capture/capture-messages", "captureMessages");
  return [
    ...(sampling === undefined || isConstant
      ? []
      : [samplingFunction(sampling, trace, expressions)]),
    code`
      ${trace(origin)}
      ${isShared ? code`export const` : code`const`} messages: ${type} = ${open}(${literal(settings)});
    `,
  ];
}

/** Context of the constant. */
export interface CaptureContext {
  readonly trace: Trace;
  readonly expressions: Expressions;
  /** Whether another module imports it. */
  readonly isShared: boolean;
}

const SAMPLING = "gwc/runtime/telemetry/traces/sampling";

function samplingFunction(
  { value, origin }: NonNullable<MessageCaptureNode["sampling"]>,
  trace: Trace,
  expressions: Expressions,
): Code {
  const usesStatus = value.variables.includes("response");
  const parameters = [
    ...(value.variables.length > 0 || usesStatus
      ? [code`request: ${importedType("gwc/runtime/http/exchange", "Exchange")}`]
      : []),
    ...(usesStatus ? [code`status: number | undefined`] : []),
  ];
  return code`
    ${trace(origin)}
    function samplesMessages(${join(parameters, ", ")}): boolean {
      ${logVariables(value.variables)}
      ${comment(value.source)}
      ${returned(call(imported(SAMPLING, "isSampled"), [expressions.use(value.code)]))}
    }
  `;
}
