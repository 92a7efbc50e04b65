import type { JsonObject, LlmCall } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import { mapTexts } from "../chat/texts.ts";
import type { Usage } from "../chat/usage.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import type { ChatCall } from "./chat-call.ts";

/**
 * Takes what a request is about to use before it goes out. False: there is not so much, and the request was answered. What
 * is taken goes back when the request is over and nothing was used.
 */
export function expectTokens(exchange: Exchange, { body, model, isStream }: ChatCall): boolean {
  const { tokenCounters = [] } = exchange.record;
  if (tokenCounters.length === 0) return true;
  exchange.onClose(() => {
    for (const counter of tokenCounters) counter.release();
  });
  const inputTokens = tokensOf(body);
  const call: LlmCall = {
    streaming: isStream,
    ...(model !== undefined && { requestModel: model, responseModel: model }),
    ...{ inputTokens, cachedInputTokens: 0, cacheCreationInputTokens: 0 },
    ...{ outputTokens: 0, totalTokens: inputTokens },
  };
  return tokenCounters.every((counter) => counter.expect(call));
}

/** Takes what a call has used. */
export function countTokens({ tokenCounters = [] }: Exchange["record"], call: LlmCall): void {
  for (const counter of tokenCounters) counter.count(call);
}

/** A call that a provider has responded to. */
interface UsedCall {
  /** The model that was asked for. */
  readonly model: string;
  readonly call: ChatCall;
  /** `chat`, or another one, whose output has no tokens. */
  readonly operation: string;
}

/** What the provider says was used, else an estimate: what is cut off has been paid for too. */
export function usedFacts(
  { model, call, operation }: UsedCall,
  outcome: Exclude<AttemptOutcome, { kind: "failed" }>,
): ResponseFacts {
  const { facts, pieces } = outcome;
  const isWhole = outcome.kind === "responded" && outcome.error === undefined;
  if (isWhole && (facts.usage !== undefined || facts.counted !== undefined)) return facts;
  const said = facts.usage ?? nothingUsed;
  const input = facts.usage?.input ?? tokensOf(call.readBody() ?? {});
  const estimated = operation === "chat" ? pieces : 0;
  const usage = { ...said, input, output: Math.max(said.output, estimated) };
  return { ...facts, model: facts.model ?? model, usage };
}

const nothingUsed: Usage = {
  ...{ input: 0, cacheRead: 0, cacheWrite: 0 },
  ...{ output: 0, reasoning: undefined },
};

/** About as many tokens as a request has: a quarter of the bytes of its texts. What is no text is not known. */
function tokensOf(body: JsonObject): number {
  let bytes = 0;
  const count = (text: string): string => {
    bytes += Buffer.byteLength(text);
    return text;
  };
  mapTexts(body, { replace: count, replaceJson: count });
  return Math.ceil(bytes / 4);
}
