import type { JsonObject, LlmCall } from "../../cel/variables.ts";
import type { Exchange, TokenCounter } from "../../http/exchange.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import { mapTexts } from "../chat/texts.ts";
import type { Usage } from "../chat/usage.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import type { ChatCall } from "./chat-call.ts";

/**
 * Charges limits the estimated tokens of a request before it is sent. Returns false if a limit is exceeded; the request is
 * answered then. Unused tokens are released when the request is over.
 */
export function expectTokens(
  exchange: Exchange,
  { body, model, isStream }: ChatCall,
): MaybePromise<boolean> {
  const { tokenCounters = [] } = exchange.record;
  return tokenCounters.length === 0 || expectInput(exchange, tokensOf(body), model, isStream);
}

/** Charges limits a number of tokens in the same way. */
export function expectInput(
  exchange: Exchange,
  inputTokens: number,
  model?: string | undefined,
  isStream = false,
): MaybePromise<boolean> {
  const { tokenCounters = [] } = exchange.record;
  exchange.onClose(() => {
    for (const counter of tokenCounters) counter.release();
  });
  const call: LlmCall = {
    streaming: isStream,
    ...(model !== undefined && { requestModel: model, responseModel: model }),
    ...{ inputTokens, cachedInputTokens: 0, cacheCreationInputTokens: 0 },
    ...{ outputTokens: 0, totalTokens: inputTokens },
  };
  return expectAll(tokenCounters, call);
}

/** Asks the counters one after the other, up to the first that refuses. */
function expectAll(
  [first, ...rest]: readonly TokenCounter[],
  call: LlmCall,
): MaybePromise<boolean> {
  if (first === undefined) return true;
  return thenMaybe(first.expect(call), (isReserved) => isReserved && expectAll(rest, call));
}

/** Charges limits the tokens that a call has used, and stores its usage. */
export function countTokens(
  { tokenCounters = [], onModelUsage }: Exchange["record"],
  call: LlmCall,
): void {
  for (const counter of tokenCounters) counter.count(call);
  onModelUsage?.(call);
}

/** A call with a response. */
interface UsedCall {
  /** Requested model. */
  readonly model: string;
  readonly call: ChatCall;
  /** `chat`, `embeddings` ... */
  readonly operation: string;
}

/** Returns the usage that the provider reported, or else an estimate: aborted responses are billed too. */
export function usedFacts(
  { model, call, operation }: UsedCall,
  outcome: Exclude<AttemptOutcome, { kind: "failed" }>,
): ResponseFacts {
  const { facts, pieces } = outcome;
  const isWhole = outcome.kind === "responded" && outcome.error === undefined;
  if (isWhole && (facts.usage !== undefined || facts.counted !== undefined)) return facts;
  const reported = facts.usage ?? NO_USAGE;
  const input = facts.usage?.input ?? tokensOf(call.readBody() ?? {});
  const estimated = TEXT_OPERATIONS.has(operation) ? pieces : 0;
  const usage = { ...reported, input, output: Math.max(reported.output, estimated) };
  return { ...facts, model: facts.model ?? model, usage };
}

/** Operations whose output is text. */
const TEXT_OPERATIONS: ReadonlySet<string> = new Set(["chat", "transcription", "translation"]);

const NO_USAGE: Usage = {
  ...{ input: 0, cacheRead: 0, cacheWrite: 0 },
  ...{ output: 0, reasoning: undefined },
};

/** Estimates the tokens of a request as a quarter of the bytes of its texts. Content other than text is not counted. */
export function tokensOf(body: JsonObject): number {
  let bytes = 0;
  const count = (text: string): string => {
    bytes += Buffer.byteLength(text);
    return text;
  };
  mapTexts(body, { replace: count, replaceJson: count });
  return Math.ceil(bytes / 4);
}
