import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import { dollarText } from "../chat/prices.ts";
import type { CachedHead } from "./cached-head.ts";
import { type ComparedRequest, type DigestedRequest, KnownRequests } from "./known-requests.ts";

/** Complete settings of a cache. */
export interface ResponseCacheSettings {
  /** Milliseconds after which a response is not used any more. */
  readonly ttl: number;
  /** Maximum size of all responses, in bytes. */
  readonly maxBytes: number;
  /**
   * Returns a value of the request; requests with equal values share responses. It fails or returns null for requests that
   * are not cached. Absent if each caller has its own responses.
   */
  readonly scope?: (request: ScopedRequest) => unknown;
}

/** Variables of expressions about the scope of a request. */
export interface ScopedRequest {
  readonly request: Exchange;
  readonly llmRequest: JsonObject;
}

/** Identity of the requests for a response. */
export interface RequestDigest {
  readonly key: string;
  /** The request as it was received; `undefined` if it is long. */
  readonly received: ComparedRequest | undefined;
}

/** A complete response as a client got it. */
export interface CachedResponse {
  /** Without fields about the transfer. */
  readonly head: CachedHead;
  readonly body: Buffer;
  readonly isStream: boolean;
  readonly facts: ResponseFacts;
  /** `gen_ai.provider.name` of the provider that made it. */
  readonly system: string;
  /** Its costs; `undefined` if they are not known. */
  readonly cost: SavedCost | undefined;
  /** Time of its end, in milliseconds of the monotonic clock. */
  readonly storedAt: number;
}

/** Costs of a response, in US dollars. */
export interface SavedCost {
  readonly amount: number;
  /** As logged. Formatting fractions takes V8 longer than all other fields of a line. */
  readonly text: string;
}

/** Returns costs with their text. */
export function savedCost(amount: number): SavedCost {
  return { amount, text: dollarText(amount) };
}

/** Fraction of the cache that one response may take. */
const LARGEST = 1 / 8;

/** Bytes of a cached response besides its content, roughly. */
const OVERHEAD = 512;

/** Opens the cache of a route. */
export function openResponseCache(settings: ResponseCacheSettings): ResponseCache {
  return new ResponseCache(settings);
}

/**
 * Responses of one thread by the digests of their requests. It ends with the code of its route, so that responses never outlive
 * the guards and rules under which they were made.
 */
export class ResponseCache {
  readonly scope: ResponseCacheSettings["scope"];
  readonly #ttl: number;
  readonly #maxBytes: number;
  readonly #known = new KnownRequests();
  /** In the order of their last use. */
  readonly #responses = new Map<string, StoredResponse>();
  #bytes = 0;
  /** Requests in flight whose responses others wait for. */
  readonly #flights = new Map<string, PromiseWithResolvers<void>>();

  constructor({ ttl, maxBytes, scope }: ResponseCacheSettings) {
    this.scope = scope;
    this.#ttl = ttl;
    this.#maxBytes = maxBytes;
  }

  /** Returns the response of a request that is at most `maxAge` milliseconds old. `now`: monotonic clock. */
  find(key: string, now: number, maxAge: number): CachedResponse | undefined {
    const found = this.#responses.get(key);
    if (found === undefined) return undefined;
    const age = now - found.response.storedAt;
    if (age >= this.#ttl) {
      this.#delete(key, found);
      return undefined;
    }
    if (age > maxAge) return undefined;
    this.#responses.delete(key);
    this.#responses.set(key, found);
    return found.response;
  }

  /** Returns the digest of a request for which a response was added; `undefined` if it is not known. */
  digestOf(received: ComparedRequest): string | undefined {
    return this.#known.digestOf(received);
  }

  /** Returns the maximum size of a response in a process of so many threads, which divide the bytes of the cache. */
  largest(threads: number): number {
    return Math.floor((this.#maxBytes / threads) * LARGEST);
  }

  /** Adds or replaces a response. The responses that were not used for the longest time make room. */
  add({ key, received }: RequestDigest, response: CachedResponse, threads: number): void {
    const before = this.#responses.get(key);
    if (before !== undefined) this.#delete(key, before);
    const known = received && this.#known.add(received, key);
    const stored = { response, known, bytes: sizeOf(response, known) };
    this.#responses.set(key, stored);
    this.#bytes += stored.bytes;
    const limit = this.#maxBytes / threads;
    for (const [oldest, each] of this.#responses) {
      if (this.#bytes <= limit) return;
      this.#delete(oldest, each);
    }
  }

  /**
   * Returns a promise that resolves when an equal request in flight has ended. If there is none, returns `undefined`, and
   * others wait until `land` is called.
   */
  board(key: string): Promise<void> | undefined {
    const flight = this.#flights.get(key);
    if (flight !== undefined) return flight.promise;
    this.#flights.set(key, Promise.withResolvers());
    return undefined;
  }

  /** Ends the wait for a request, whether or not its response was added. */
  land(key: string): void {
    this.#flights.get(key)?.resolve();
    this.#flights.delete(key);
  }

  #delete(key: string, { known, bytes }: StoredResponse): void {
    this.#responses.delete(key);
    if (known !== undefined) this.#known.remove(known);
    this.#bytes -= bytes;
  }
}

interface StoredResponse {
  readonly response: CachedResponse;
  readonly known: DigestedRequest | undefined;
  readonly bytes: number;
}

function sizeOf({ head, body }: CachedResponse, known: DigestedRequest | undefined): number {
  const texts = [head.fields.list, known?.place, known?.headers, known?.relevant];
  const content = body.length + (known?.body.length ?? 0) + OVERHEAD;
  return texts.flatMap((each) => each ?? []).reduce((sum, text) => sum + text.length, content);
}
