import type { Client } from "./redis-client.ts";
import { addVectorScript, type RedisScript, writeResponseScript } from "./redis-scripts.ts";
import type { ResponsePool, StoredBytes, StoredResponses, StoredVector } from "./responses.ts";

/** Runs commands of Redis as its store does: they fail at once while it is away. */
export interface RedisCommands {
  send<Result>(command: (client: Client) => Promise<Result>): Promise<Result>;
  run(
    script: RedisScript,
    keys: readonly string[],
    values: readonly (string | Buffer)[],
  ): Promise<unknown>;
}

/** Responses in Redis. Keys of a pool are on one node of a cluster. */
export class RedisResponses implements StoredResponses {
  readonly #prefix: string;
  readonly #commands: RedisCommands;

  constructor(prefix: string, commands: RedisCommands) {
    this.#prefix = prefix;
    this.#commands = commands;
  }

  async read(pool: ResponsePool, id: string): Promise<StoredBytes | undefined> {
    const key = `${this.#pool(pool)}:${id}`;
    const [bytes, left] = await this.#commands.send((client) =>
      Promise.all([client.getBuffer(key), client.pttl(key)]),
    );
    // It may expire between the commands.
    if (bytes === null || left < 0) return undefined;
    return { bytes, age: Math.max(0, pool.ttl - left) };
  }

  async write(pool: ResponsePool, id: string, bytes: Uint8Array): Promise<void> {
    const own = this.#pool(pool);
    await this.#commands.run(
      writeResponseScript,
      [`${own}:${id}`, `${own}!ends`, `${own}!sizes`],
      [id, asBuffer(bytes), String(bytes.length), String(pool.ttl), String(pool.maxBytes)],
    );
  }

  async addVector(pool: ResponsePool, vector: Uint8Array): Promise<void> {
    const own = this.#pool(pool);
    await this.#commands.run(
      addVectorScript,
      [`${own}!vectors`],
      [asBuffer(vector), String(pool.ttl), String(pool.maxVectors)],
    );
  }

  async readVectors(
    pool: ResponsePool,
    after: number,
    limit: number,
  ): Promise<readonly StoredVector[]> {
    const key = `${this.#pool(pool)}!vectors`;
    const range = [`(${after}`, "+inf", "WITHSCORES", "LIMIT", "0", String(limit)];
    const found = await this.#commands.send((client) =>
      client.callBuffer("ZRANGEBYSCORE", key, ...range),
    );
    const vectors: StoredVector[] = [];
    if (!Array.isArray(found)) return vectors;
    for (let at = 0; at + 1 < found.length; at += 2) {
      const [bytes, number] = [found[at], Number(found[at + 1])];
      if (Buffer.isBuffer(bytes) && Number.isFinite(number)) vectors.push({ number, bytes });
    }
    return vectors;
  }

  #pool({ name }: ResponsePool): string {
    return `${this.#prefix}{cache:${name}}`;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
