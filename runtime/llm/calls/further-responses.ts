import type { Exchange } from "../../http/exchange.ts";
import type { ResponsePool, StoredResponses } from "../../store/responses.ts";
import type { CachedResponse, ResponseCache } from "../cache/response-cache.ts";
import { encodeMeaning, type Meaning, type SimilarRequests } from "../cache/similar-requests.ts";
import { decodeResponse, encodeResponse } from "../cache/stored-response.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { recordGuards } from "../guards/record-guards.ts";
import { replayGuarded } from "./guarded-replay.ts";
import type { ResponseGuard } from "./response-guard.ts";

/** Settings of the responses beyond those of this thread to equal requests. */
export interface FurtherSettings {
  readonly cache: ResponseCache;
  /** Pool in the store of the gateway; absent if responses are not shared. */
  readonly pool?: ResponsePool;
  /** Search for similar requests; absent if only equal requests get a cached response. */
  readonly similar?: SimilarRequests;
}

/** A call that has no cached response here. */
export interface FurtherQuestion {
  readonly exchange: Exchange;
  /** Key of its response. */
  readonly key: string;
  /** Maximum age of a response that the client accepts, in milliseconds. */
  readonly maxAge: number;
  /** Guards of responses, which run again; `undefined` if there are none. */
  readonly guard: ResponseGuard | undefined;
  /** Format of the client. */
  readonly errors: ErrorFormat;
  /** Returns what is compared by meaning; `undefined` if only an equal request gets the same response. */
  readonly comparedText: () => ComparedText | undefined;
}

/** A text that is compared with those of other requests. */
export interface ComparedText {
  readonly text: string;
  /** Requests that differ only in this text; others are never compared. */
  readonly group: string;
}

/** Result of a search for a response. */
export interface FurtherResult {
  /** `undefined` if a provider has to be asked. */
  readonly found: CachedResponse | undefined;
  /** Cosine of the texts, if the response is that to a similar request; `undefined` if the request was equal. */
  readonly score?: number;
  /** `undefined` if its response is only for equal requests. */
  readonly meaning?: Meaning | undefined;
}

/** Opens the further responses of a route. */
export function openFurtherResponses(settings: FurtherSettings): FurtherResponses {
  return new FurtherResponses(settings);
}

/** Responses that replicas share, and those to similar requests. */
export class FurtherResponses {
  readonly #cache: ResponseCache;
  readonly #pool: ResponsePool | undefined;
  readonly #similar: SimilarRequests | undefined;

  constructor({ cache, pool, similar }: FurtherSettings) {
    this.#cache = cache;
    this.#pool = pool;
    this.#similar = similar;
  }

  /**
   * Searches for a response. Throws LlmRefusal if a guard rejects it now. A store or a server of embeddings that does not respond
   * counts as no response.
   */
  async find(question: FurtherQuestion): Promise<FurtherResult> {
    const { exchange, key, maxAge } = question;
    const stored = await this.#read(exchange, key);
    if (stored !== undefined && ageOf(stored) <= maxAge) {
      const found = await guarded(stored, question);
      if (found !== undefined) return { found };
    }
    const similar = this.#similar;
    const text = similar && question.comparedText();
    if (similar === undefined || text === undefined || exchange.isOver) return NOTHING;
    const [meaning] = await Promise.all([
      similar.meaningOf(exchange, text.group, text.text),
      this.#follow(exchange, similar),
    ]);
    if (meaning === undefined) return NOTHING;
    for (;;) {
      const closest = similar.closest(meaning);
      if (closest === undefined) return { found: undefined, meaning };
      const { id, score } = closest;
      const now = performance.now();
      const known = this.#cache.find(id, now, maxAge) ?? (await this.#read(exchange, id));
      const found = known && ageOf(known) <= maxAge ? await guarded(known, question) : undefined;
      if (found !== undefined) return { found, score, meaning };
      // A client that wants a newer response gets one, but others may still get the old one.
      if (known !== undefined) return { found: undefined, meaning };
      similar.remove(id, meaning);
    }
  }

  /** Adds a response that the cache of this thread has now. */
  add(
    exchange: Exchange,
    key: string,
    response: CachedResponse,
    meaning: Meaning | undefined,
  ): void {
    if (meaning !== undefined) this.#similar?.add(key, meaning, threadsOf(exchange));
    const store = this.#storeOf(exchange);
    if (store === undefined) return;
    // The client already has its response; a store that fails is logged and counted by itself.
    store.responses
      .write(store.pool, key, encodeResponse(response))
      .then(() => meaning && store.responses.addVector(store.pool, encodeMeaning(key, meaning)))
      .catch(() => {});
  }

  async #read(exchange: Exchange, key: string): Promise<CachedResponse | undefined> {
    const store = this.#storeOf(exchange);
    const stored = await store?.responses.read(store.pool, key).catch(() => undefined);
    return stored && decodeResponse(stored.bytes, performance.now() - stored.age);
  }

  async #follow(exchange: Exchange, similar: SimilarRequests): Promise<void> {
    const store = this.#storeOf(exchange);
    if (store === undefined) return;
    await similar.follow(store.responses, store.pool, threadsOf(exchange)).catch(() => {});
  }

  /** Gateways with the same prefix may have callers of the same names. */
  #storeOf({ gateway }: Exchange): OpenPool | undefined {
    const responses = gateway.store?.responses;
    if (responses === undefined || this.#pool === undefined) return undefined;
    const name = `${encodeURIComponent(gateway.env.gateway)}/${this.#pool.name}`;
    return { responses, pool: { ...this.#pool, name } };
  }
}

interface OpenPool {
  readonly responses: StoredResponses;
  readonly pool: ResponsePool;
}

const NOTHING: FurtherResult = { found: undefined };

function ageOf({ storedAt }: CachedResponse): number {
  return performance.now() - storedAt;
}

function threadsOf({ gateway }: Exchange): number {
  return gateway.threads?.count ?? 1;
}

/** Passes a response through the guards; returns `undefined` if they cannot read it. Throws LlmRefusal if one rejects it. */
async function guarded(
  response: CachedResponse,
  { exchange, guard, errors }: FurtherQuestion,
): Promise<CachedResponse | undefined> {
  if (guard === undefined) return response;
  const body = await replayGuarded(response, guard, errors.framing);
  recordGuards(exchange, guard.steps, guard.run);
  if (body === undefined || Buffer.isBuffer(body)) return body && { ...response, body };
  if (exchange.isOver) return undefined;
  throw new LlmRefusal(body);
}
