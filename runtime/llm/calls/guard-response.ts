import type { LlmError } from "../chat/llm-error.ts";
import { mapTexts, type TextFormat } from "../chat/texts.ts";
import { parseObject } from "../formats/parse-object.ts";
import type { GuardRun } from "../guards/guard-run.ts";
import { rejectionError } from "../guards/prompt-guard.ts";

/** What guards one response. */
export interface ResponseGuard {
  readonly run: GuardRun;
  readonly format: TextFormat;
}

/** A whole response for the client with its texts masked, the same text when nothing of it is; the error when a guard rejects it. */
export function guardWhole(text: string, { run, format }: ResponseGuard): string | LlmError {
  const body = parseObject(text) ?? {};
  const changed = format.response.flatMap((key) => {
    const next = mapTexts(body[key], run);
    return next === body[key] ? [] : [[key, next] as const];
  });
  if (run.rejection !== undefined) return rejectionError(run.rejection);
  // Nothing was masked: what else would be left out stays.
  if (run.matches.size === 0) return text;
  return JSON.stringify({ ...body, ...Object.fromEntries(changed) });
}
