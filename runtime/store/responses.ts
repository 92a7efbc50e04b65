/** Responses that replicas share, in pools. Methods reject with a StoreError if the store does not respond. */
export interface StoredResponses {
  /** Returns a response and its age in milliseconds, by the store's clock; `undefined` if it does not exist or has expired. */
  read(pool: ResponsePool, id: string): Promise<StoredBytes | undefined>;
  /** Adds or replaces a response. The oldest responses of the pool make room. */
  write(pool: ResponsePool, id: string, bytes: Uint8Array): Promise<void>;
  /** Adds a vector to the list of the pool. The oldest vectors make room. */
  addVector(pool: ResponsePool, vector: Uint8Array): Promise<void>;
  /** Returns the vectors that were added after this number, oldest first, at most `limit`. */
  readVectors(pool: ResponsePool, after: number, limit: number): Promise<readonly StoredVector[]>;
}

/** Responses that make room for each other. */
export interface ResponsePool {
  /** Name without "{" and ":". Responses of other pools are never returned. */
  readonly name: string;
  /** Milliseconds after which a response expires. */
  readonly ttl: number;
  /** Maximum size of all responses, in bytes. */
  readonly maxBytes: number;
  /** Maximum number of vectors. */
  readonly maxVectors: number;
}

/** A stored response. */
export interface StoredBytes {
  readonly bytes: Buffer;
  readonly age: number;
}

/** A stored vector, with its number in the order of additions. */
export interface StoredVector {
  readonly number: number;
  readonly bytes: Buffer;
}
