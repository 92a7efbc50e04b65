import { resolvePattern } from "../backends/ai/guards.ts";
import type { MessageCaptureConfig } from "../config/message-capture.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { MessageCaptureNode } from "../ir/message-capture.ts";
import type { SamplingNode } from "../ir/sampling.ts";
import { resolveLogged } from "./logged-expression.ts";
import { checkShare } from "./sampling-share.ts";

/** Resolves the export of messages; returns `undefined` if nothing is exported, or a mistake was reported. */
export function resolveMessageCapture(
  { sampling, content, maxBytes, redact, origin }: MessageCaptureConfig,
  callsModels: boolean,
  diagnostics: Diagnostics,
): MessageCaptureNode | undefined {
  if (!callsModels) diagnostics.report("idle-capture", keyPlace(origin), {});
  const share = sampling && resolveShare(sampling, diagnostics);
  const patterns = redact.flatMap((each) => resolvePattern(each, undefined, diagnostics) ?? []);
  // Without one of its patterns or its sampling, more would be exported than the user wants.
  const isWhole =
    patterns.length === redact.length && (sampling === undefined) === (share === undefined);
  if (!callsModels || !isWhole) return undefined;
  return {
    sampling: share,
    input: content.includes("input"),
    output: content.includes("output"),
    maxBytes,
    redact: patterns,
    origin,
  };
}

function resolveShare(
  config: NonNullable<MessageCaptureConfig["sampling"]>,
  diagnostics: Diagnostics,
): SamplingNode | undefined {
  const value = resolveLogged(config, { phase: "log", slot: "value" }, diagnostics);
  if (value === undefined) return undefined;
  checkShare(value, config.origin, diagnostics);
  return { value, origin: config.origin };
}
