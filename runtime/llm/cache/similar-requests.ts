import type { Exchange } from "../../http/exchange.ts";
import type { ResponsePool, StoredResponses } from "../../store/responses.ts";
import { type EmbeddingServer, embed } from "./embedding-server.ts";
import { headedBytes, readHeadedBytes } from "./headed-bytes.ts";
import { type SimilarVector, type UnitVector, unitVector, VectorIndex } from "./vector-index.ts";

/** Settings of the search for similar requests. */
export interface SimilaritySettings extends EmbeddingServer {
  /** Least cosine of two texts that count as similar. */
  readonly threshold: number;
  /** Maximum number of vectors in memory, of all threads. */
  readonly maxVectors: number;
  /** Milliseconds after which a vector is not used any more. */
  readonly ttl: number;
}

/** The text of a request by its meaning, and the requests with which it is compared. */
export interface Meaning {
  readonly group: string;
  readonly vector: UnitVector;
  /** Cost of the vector in US dollars; absent if it is unknown. */
  readonly cost?: number | undefined;
}

/** Opens the search for similar requests of a route. */
export function similarRequests(settings: SimilaritySettings): SimilarRequests {
  return new SimilarRequests(settings);
}

/** Vectors that a replica reads from the store at a time. */
const PAGE = 200;

/** Meanings of requests whose responses are cached: those of this thread and, with a store, of all replicas. */
export class SimilarRequests {
  readonly maxVectors: number;
  readonly #settings: SimilaritySettings;
  readonly #index = new VectorIndex();
  /** Number of the last vector that was read from the store. */
  #last = 0;
  /** Read of new vectors in flight. */
  #reading: Promise<void> | undefined;

  constructor(settings: SimilaritySettings) {
    this.#settings = settings;
    this.maxVectors = settings.maxVectors;
  }

  /** Returns the meaning of a text; `undefined` if no vector can be had. */
  async meaningOf(exchange: Exchange, group: string, text: string): Promise<Meaning | undefined> {
    const embedding = await embed(exchange, text, this.#settings);
    return embedding && { group, ...embedding };
  }

  /** Returns the key of the response to the most similar request; `undefined` if none is similar enough. */
  closest({ group, vector }: Meaning): SimilarVector | undefined {
    return this.#index.closest(group, vector, this.#settings.threshold, performance.now());
  }

  /** Adds a request whose response is cached. `threads`: those that divide the limit. */
  add(id: string, { group, vector }: Meaning, threads: number): void {
    const limit = Math.max(1, Math.floor(this.maxVectors / threads));
    this.#index.add({ group, id, vector }, performance.now() + this.#settings.ttl, limit);
  }

  /** Removes a request whose response is gone. */
  remove(id: string, { group }: Meaning): void {
    this.#index.remove(group, id);
  }

  /**
   * Reads what other replicas added. A replica that has just started has much to read: it resolves after the first page, and the
   * rest follows in the background. Rejects with a StoreError if the store does not respond.
   */
  async follow(store: StoredResponses, pool: ResponsePool, threads: number): Promise<void> {
    this.#reading ??= this.#readPage(store, pool, threads).then(
      (isMore) => {
        this.#reading = undefined;
        if (isMore) this.follow(store, pool, threads).catch(() => {});
      },
      (error: unknown) => {
        this.#reading = undefined;
        throw error;
      },
    );
    await this.#reading;
  }

  /** Returns whether there may be more. */
  async #readPage(store: StoredResponses, pool: ResponsePool, threads: number): Promise<boolean> {
    const vectors = await store.readVectors(pool, this.#last, PAGE);
    for (const { number, bytes } of vectors) {
      this.#last = Math.max(this.#last, number);
      const read = decodeMeaning(bytes);
      if (read !== undefined) this.add(read.id, read, threads);
    }
    return vectors.length === PAGE;
  }
}

/** Returns the form of a request in a store: its group and id, then the numbers. */
export function encodeMeaning(id: string, { group, vector: { values } }: Meaning): Buffer {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return headedBytes([group, id], bytes);
}

function decodeMeaning(bytes: Buffer): (Meaning & { readonly id: string }) | undefined {
  const read = readHeadedBytes(bytes);
  if (!Array.isArray(read?.head) || read.body.length % 4 !== 0) return undefined;
  const [group, id]: readonly unknown[] = read.head;
  // A copy is aligned, as the numbers have to be.
  const { buffer } = Uint8Array.from(read.body);
  const vector = unitVector(new Float32Array(buffer));
  if (typeof group !== "string" || typeof id !== "string" || vector === undefined) return undefined;
  return { group, id, vector };
}
