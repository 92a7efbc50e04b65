import type { JsonObject, LlmCall, LlmCost } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import type { MessageFormat } from "../chat/message-format.ts";
import {
  costOf,
  coversCall,
  type ModelPriceList,
  ratesOf,
  type TokenRates,
} from "../chat/prices.ts";
import { joinedTexts } from "../chat/request-object.ts";
import type { Usage } from "../chat/usage.ts";
import type { ChatCall } from "./chat-call.ts";

/**
 * Attributes of a request to a model that expressions read as `llm`. Attributes that few expressions read are computed on
 * access.
 */
export class CallAttributes implements LlmCall {
  readonly #call: ChatCall;
  /** Format in which messages are captured; absent if they are not. */
  readonly messages?: MessageFormat;
  /** The call that was sent to a provider last, after its guards. */
  sent?: ChatCall;
  readonly streaming: boolean;
  readonly requestModel?: string;
  /** Provider that was called last. */
  provider?: string;
  responseModel?: string;
  inputTokens?: number;
  cachedInputTokens?: number;
  cacheCreationInputTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
  inputAudioTokens?: number;
  outputAudioTokens?: number;
  totalTokens?: number;
  countTokens?: number;
  characters?: number;
  seconds?: number;
  images?: number;
  documents?: number;
  searches?: number;
  /** Costs in US dollars; absent if prices or tokens are unknown. */
  cost?: LlmCost;
  /** Cost in US dollars of the vector that a cache compares; absent if there is none, or its price is unknown. */
  embeddingCost?: number;
  /** Prices that apply to the call. */
  costRates?: TokenRates;
  /** Seconds from the request until the first content of a stream, and from there for each token of the output. */
  timeToFirstToken?: number;
  timePerOutputToken?: number;

  constructor(call: ChatCall, messages?: MessageFormat) {
    const { model, isStream } = call;
    this.#call = call;
    if (messages !== undefined) this.messages = messages;
    this.streaming = isStream;
    if (model !== undefined) this.requestModel = model;
  }

  get params(): JsonObject {
    const params: Record<string, unknown> = Object.create(null);
    const body = this.#call.readBody() ?? {};
    for (const name of PARAMETERS) {
      if (body[name] !== undefined) params[name] = body[name];
    }
    return params;
  }

  get prompt(): readonly PromptMessage[] {
    return promptOf(this.#call.readBody() ?? {});
  }

  /** Adds the facts of a response. `requested`: the model by its name at the provider. */
  note(
    { model, usage, units, counted }: ResponseFacts,
    requested: string,
    prices: ModelPriceList | undefined,
  ): void {
    if (counted !== undefined) this.countTokens = counted;
    if (model !== undefined) this.responseModel = model;
    if (units !== undefined) Object.assign(this, units);
    if (usage === undefined) return;
    noteTokens(this, usage);
    const price = prices?.get(model ?? requested) ?? prices?.get(requested);
    const rates = price && ratesOf(price, usage);
    // A price of zero would hide that a part of the call has none.
    if (rates === undefined || !coversCall(rates, usage, units)) return;
    this.costRates = rates;
    this.cost = withInput(costOf(this.costRates, usage, units), this.embeddingCost);
  }

  /** Adds the times of a stream, in seconds. */
  noteTimes(firstToken: number | undefined, perToken: number | undefined): void {
    if (firstToken !== undefined) this.timeToFirstToken = firstToken;
    if (perToken !== undefined) this.timePerOutputToken = perToken;
  }
}

/** Adds a cost of the input, in US dollars. */
export function withInput(cost: LlmCost, more = 0): LlmCost {
  return more === 0 ? cost : { ...cost, total: cost.total + more, input: cost.input + more };
}

/** Token counts of a call, as expressions read them. */
export type CallTokens = Pick<
  CallAttributes,
  | "inputTokens"
  | "cachedInputTokens"
  | "cacheCreationInputTokens"
  | "outputTokens"
  | "reasoningTokens"
  | "inputAudioTokens"
  | "outputAudioTokens"
  | "totalTokens"
>;

/** A message of a prompt with its texts only. */
interface PromptMessage {
  readonly role: string;
  readonly content: string;
}

/** Returns the texts of a request in the format of Chat Completions, Responses or Messages. */
export function promptOf({
  system,
  instructions,
  messages,
  input,
}: JsonObject): readonly PromptMessage[] {
  const before = joinedTexts(system ?? instructions, "\n");
  const turns = Array.isArray(messages) ? messages : Array.isArray(input) ? input : [];
  return [
    ...(before === "" ? [] : [{ role: "system", content: before }]),
    ...(typeof input === "string" ? [{ role: "user", content: input }] : []),
    ...turns.filter(isJsonObject).map(({ role, content }) => ({
      role: typeof role === "string" ? role : "user",
      content: joinedTexts(content, "\n"),
    })),
  ];
}

/** Adds the counts of a provider. */
export function noteTokens(call: CallTokens, usage: Usage): void {
  const { input, cacheRead, cacheWrite, output, reasoning, inputAudio, outputAudio } = usage;
  call.inputTokens = input;
  call.cachedInputTokens = cacheRead;
  call.cacheCreationInputTokens = cacheWrite;
  call.outputTokens = output;
  call.totalTokens = input + output;
  if (reasoning !== undefined) call.reasoningTokens = reasoning;
  if (inputAudio !== undefined) call.inputAudioTokens = inputAudio;
  if (outputAudio !== undefined) call.outputAudioTokens = outputAudio;
}

/** Names of parameters in requests of any format. */
const PARAMETERS = [
  ...["temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "max_output_tokens"],
  ...["frequency_penalty", "presence_penalty", "seed", "encoding_format", "dimensions"],
];
