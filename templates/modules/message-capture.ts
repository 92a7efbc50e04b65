import type { MessageCaptureNode } from "../../compiler/ir/message-capture.ts";
import { patternCode } from "../backends/ai/guards.ts";
import { code, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Hole } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";
import { nonEmpty } from "../code/units.ts";
import { constantSampling, samplingFunction } from "./sampling.ts";

/** Names that modules with a capture declare themselves. */
export const CAPTURE_NAMES: readonly string[] = ["messages", "samplesMessages"];

/** Writes the constant `messages`: which messages of calls to models are exported. */
export function messageCapture(
  { sampling, input, output, maxBytes, redact, origin }: MessageCaptureNode,
  { trace, expressions, isShared }: CaptureContext,
): readonly Hole[] {
  const share = sampling?.value.source === "true" ? undefined : sampling;
  const constant = share && constantSampling(share, "always");
  const settings = {
    samples: share && (constant ?? name("samplesMessages")),
    ...{ input, output, maxBytes },
    redact: nonEmpty(redact.map(patternCode)),
  };
  const type = importedType("gwc/runtime/telemetry/message-capture", "MessageCapture");
  const open = imported("gwc/runtime/llm/capture/capture-messages", "captureMessages");
  return [
    ...(share === undefined || constant !== undefined
      ? []
      : [samplingFunction("samplesMessages", share, { trace, expressions })]),
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
