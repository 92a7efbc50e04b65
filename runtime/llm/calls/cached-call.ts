import { type Exchange, logFields } from "../../http/exchange.ts";
import { SECOND } from "../../process/units.ts";
import { type CachedHead, cachedHead } from "../cache/cached-head.ts";
import {
  type CachedResponse,
  type RequestDigest,
  type ResponseCache,
  savedCost,
} from "../cache/response-cache.ts";
import type { Meaning } from "../cache/similar-requests.ts";
import { costOf, dollarText } from "../chat/prices.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import { type CallPlace, cacheKey, questionGroup } from "./cache-key.ts";
import { CacheMetrics } from "./cache-metrics.ts";
import { type CallAttributes, withInput } from "./call-attributes.ts";
import type { ChatCall } from "./chat-call.ts";
import type { LlmOperation } from "./chat-service.ts";
import type { FurtherQuestion } from "./further-responses.ts";
import { recordUsage } from "./record-call.ts";
import { ResponseRecording } from "./response-recording.ts";
import type { LlmTarget } from "./target.ts";

/** A call whose response may come from a cache, and which may add its response to it. */
export class CachedCall {
  readonly #exchange: Exchange;
  readonly #cache: ResponseCache;
  readonly #request: RequestDigest;
  readonly #system: string;
  /** Maximum age of a response that the client accepts, in milliseconds. */
  readonly #maxAge: number;
  readonly #place: CallPlace;
  /** Meaning of the request; `undefined` if it is not known. */
  #meaning: Meaning | undefined;
  #isAwaited = false;

  /** `maxAge`: in milliseconds. */
  constructor(place: CallPlace, cache: ResponseCache, request: RequestDigest, maxAge: number) {
    const { exchange, target } = place;
    this.#exchange = exchange;
    this.#place = place;
    this.#cache = cache;
    this.#request = request;
    this.#system = target.provider.system;
    this.#maxAge = maxAge;
  }

  /**
   * Returns a promise while an equal request is in flight, whose response may be cached then; `undefined` if there is none.
   * From then on, others wait for this call, until `settle` is called.
   */
  wait(): Promise<void> | undefined {
    // A client that accepts no older response does not wait for the response to an older request either.
    if (this.#maxAge <= 0) return undefined;
    const flight = this.#cache.board(this.#request.key);
    this.#isAwaited = flight === undefined;
    return flight;
  }

  /** Responds from the cache; false if it has no response for this call. */
  respond(attributes: CallAttributes): boolean {
    const exchange = this.#exchange;
    const now = performance.now();
    const found = this.#cache.find(this.#request.key, now, this.#maxAge);
    if (found === undefined) return false;
    replay(exchange, found, { age: now - found.storedAt, score: undefined, attributes });
    return true;
  }

  /**
   * Responds with a response of another replica, or with that to a similar request; false if there is none. Rejects with LlmRefusal
   * if a guard rejects it now.
   */
  async respondFurther(
    attributes: CallAttributes,
    { operation, ...client }: ClientSide,
  ): Promise<boolean> {
    const exchange = this.#exchange;
    const { further } = this.#place.target;
    if (further === undefined || this.#maxAge <= 0) return false;
    const { key } = this.#request;
    const { found, score, meaning } = await further.find({
      ...client,
      ...{ exchange, key, maxAge: this.#maxAge },
      comparedText: () =>
        operation === "chat" ? questionGroup(this.#place, this.#cache) : undefined,
    });
    if (exchange.isOver) return true;
    this.#meaning = meaning;
    if (meaning?.cost !== undefined) attributes.embeddingCost = meaning.cost;
    if (found === undefined) return false;
    // Equal requests to this thread find it here from now on.
    if (score === undefined) this.#cache.add(this.#request, found, this.#threads);
    replay(exchange, found, { age: performance.now() - found.storedAt, score, attributes });
    return true;
  }

  /** Starts to record the response of a provider that is called now. */
  record(): ResponseRecording {
    const { record, gateway } = this.#exchange;
    const fields = logFields(record);
    // Another provider may have failed before.
    if (!fields.has("llm.cache")) {
      fields.set("llm.cache", "miss");
      this.#exchange.setResponseHeader("x-cache", "miss");
      gateway.metrics.part(CacheMetrics).miss(record.route ?? "unknown");
    }
    const largest = this.#cache.largest(this.#threads);
    return new ResponseRecording(this.#exchange.newBuffer(), largest);
  }

  /** Adds a recorded response if it is complete. Calls that waited for it continue. */
  settle(
    recording: ResponseRecording,
    outcome: AttemptOutcome,
    { isStream }: ChatCall,
    { cost, embeddingCost = 0 }: CallAttributes,
  ): void {
    const response = isComplete(outcome) ? recording.response() : undefined;
    const head = response && this.#headOf(response.headers);
    if (response !== undefined && head !== undefined && isComplete(outcome)) {
      const { facts } = outcome;
      const storedAt = performance.now();
      const { body } = response;
      const facing = { head, body, isStream, facts, system: this.#system };
      // Similar requests save the completion, but need a vector of their own.
      const saved = cost && savedCost(cost.total - embeddingCost);
      const cached = { ...facing, cost: saved, storedAt };
      this.#cache.add(this.#request, cached, this.#threads);
      const { further } = this.#place.target;
      further?.add(this.#exchange, this.#request.key, cached, this.#meaning);
    }
    recording.drop();
    this.land();
  }

  /** Lets calls continue that wait for this one. */
  land(): void {
    if (this.#isAwaited) this.#cache.land(this.#request.key);
    this.#isAwaited = false;
  }

  #headOf(headers: readonly string[]): CachedHead | undefined {
    const dropped = logFields(this.#exchange.record).get("llm.dropped");
    return cachedHead(dropped === undefined ? headers : [...headers, "x-llm-dropped", dropped]);
  }

  get #threads(): number {
    return this.#exchange.gateway.threads?.count ?? 1;
  }
}

/** Returns the call as one that may be cached; `undefined` if it must not be. */
export function cachedCall(
  exchange: Exchange,
  call: ChatCall,
  target: LlmTarget,
): CachedCall | undefined {
  const { cache } = target;
  if (cache === undefined) return undefined;
  const control = exchange.header("cache-control");
  if (hasDirective(control, "no-store")) return undefined;
  const request = cacheKey(exchange, call, target, cache);
  if (request === undefined) return undefined;
  return new CachedCall({ exchange, call, target }, cache, request, maxAgeOf(control));
}

/** Only complete responses are cached: no error, no rejection by a guard, no content that the provider filtered. */
function isComplete(
  outcome: AttemptOutcome,
): outcome is Extract<AttemptOutcome, { kind: "responded" }> {
  if (outcome.kind !== "responded" || outcome.error !== undefined) return false;
  return outcome.facts.finish === undefined || !FILTERED.test(outcome.facts.finish);
}

/** Reasons of providers for a completion that they cut off because of its content. */
const FILTERED = /filter|refusal|safety|blocklist|prohibited|recitation|spii/i;

function hasDirective(header: string | undefined, name: string): boolean {
  return header?.split(",").some((each) => each.trim().toLowerCase() === name) === true;
}

/** Returns the maximum age of responses that a client accepts (RFC 9111 5.2.1), in milliseconds. */
function maxAgeOf(header: string | undefined): number {
  if (header === undefined) return Number.POSITIVE_INFINITY;
  if (hasDirective(header, "no-cache")) return 0;
  const [, seconds] = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,9})"?\s*(?:,|$)/i.exec(header) ?? [];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * SECOND;
}

/** Client of a call, and the guards of responses to it. */
interface ClientSide extends Pick<FurtherQuestion, "guard" | "errors"> {
  /** Only completions are compared by meaning. */
  readonly operation: LlmOperation;
}

/** How a response was found. */
interface Hit {
  /** Milliseconds since it was made. */
  readonly age: number;
  /** Cosine of the texts of two similar requests; `undefined` if they are equal. */
  readonly score: number | undefined;
  readonly attributes: CallAttributes;
}

/** Sends a cached response. */
function replay(exchange: Exchange, found: CachedResponse, hit: Hit): void {
  const { gateway, record } = exchange;
  const { score } = hit;
  const metrics = gateway.metrics.part(CacheMetrics);
  metrics.hit(record.route ?? "unknown", found.cost?.amount ?? 0, score !== undefined);
  const age = Math.floor(hit.age / SECOND);
  const shown = score?.toFixed(4);
  recordHit(exchange, found, String(age), hit.attributes);
  if (shown !== undefined) logFields(record).set("llm.cache.score", shown);
  const { fields } = found.head;
  const own = found.head.ownFields(age, shown);
  if (found.isStream) {
    exchange.writeHead(200, [...fields.list, ...own.list]);
    exchange.write(found.body);
    exchange.end();
  } else exchange.passWhole(200, fields, own, found.body);
}

/**
 * Logs a response from the cache. It used no tokens and cost nothing, which `gen_ai.cost` says, except for the vector of its text.
 */
function recordHit(
  { record }: Exchange,
  { facts: { model, id, usage, finish }, system, cost }: CachedResponse,
  age: string,
  attributes: CallAttributes,
): void {
  const fields = logFields(record);
  fields.set("gen_ai.provider.name", system);
  fields.set("llm.cache", "hit").set("llm.cache.age", age);
  attributes.provider = system;
  if (model !== undefined) {
    attributes.responseModel = model;
    fields.set("gen_ai.response.model", model);
  }
  if (id !== undefined) fields.set("gen_ai.response.id", id);
  if (finish !== undefined) fields.set("gen_ai.response.finish_reasons", finish);
  if (usage !== undefined) recordUsage(fields, usage);
  const { embeddingCost: spent } = attributes;
  if (spent !== undefined) chargeEmbedding(record, attributes, spent);
  record.onModelUsage?.(attributes);
  if (spent !== undefined) fields.set("gen_ai.cost", dollarText(spent));
  else if (cost !== undefined) fields.set("gen_ai.cost", "0");
  if (cost !== undefined) fields.set("llm.cost.saved", cost.text);
}

/** Charges limits the vector of a text whose response was cached. */
function chargeEmbedding(
  { tokenCounters = [] }: Exchange["record"],
  attributes: CallAttributes,
  spent: number,
): void {
  const cost = withInput(NO_COST, spent);
  attributes.cost = cost;
  const { requestModel, responseModel } = attributes;
  const names = {
    ...(requestModel !== undefined && { requestModel }),
    ...(responseModel !== undefined && { responseModel }),
  };
  for (const counter of tokenCounters) counter.count({ ...names, ...NO_TOKENS, cost });
}

const NO_COST = costOf({}, { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 });

const NO_TOKENS = {
  ...{ inputTokens: 0, cachedInputTokens: 0, cacheCreationInputTokens: 0 },
  ...{ outputTokens: 0, totalTokens: 0 },
};
