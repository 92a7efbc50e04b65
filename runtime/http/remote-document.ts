import type { JsonObject } from "../cel/variables.ts";
import { fetchJson } from "./fetch-json.ts";

/** Milliseconds between two fetches that requests ask for; shorter while there is nothing to work with. */
const window = 10_000;
const firstWindow = 1_000;

/**
 * A JSON document on another server, kept in memory: a key set, a server's metadata.
 *
 * One fetch at a time, at most one in 10 seconds (in 1 second until the first success), none unless a request needs it.
 * A failed fetch, or a document that `accept` throws on, leaves the last good one in use. It holds no timer and no
 * connection, so it needs no closing.
 */
export class RemoteDocument {
  readonly #urls: readonly string[];
  readonly #accept: (document: JsonObject) => void;
  #document: JsonObject | undefined;
  #text = "";
  #triedAt = Number.NEGATIVE_INFINITY;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #pending: Promise<JsonObject | undefined> | undefined;

  /** `urls` are tried in order; the first document that is accepted counts. */
  constructor(urls: readonly string[], accept: (document: JsonObject) => void) {
    this.#urls = urls;
    this.#accept = accept;
  }

  /**
   * The document as it is known now; the same object until its content changes. Older than `maxAge` milliseconds: a
   * fetch is started in the background.
   */
  current(maxAge: number): JsonObject | undefined {
    if (this.#document !== undefined && performance.now() - this.#fetchedAt > maxAge)
      this.renewed();
    return this.#document;
  }

  /** The document after a fetch, when one is under way or permitted now; else as it is known. Never rejects. */
  renewed(): Promise<JsonObject | undefined> {
    if (this.#pending !== undefined) return this.#pending;
    const wait = this.#document === undefined ? firstWindow : window;
    if (performance.now() - this.#triedAt < wait) return Promise.resolve(this.#document);
    this.#triedAt = performance.now();
    this.#pending = this.#fetch().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #fetch(): Promise<JsonObject | undefined> {
    for (const url of this.#urls) {
      try {
        const document = await fetchJson(url);
        this.#accept(document);
        this.#keep(document);
        break;
      } catch {
        // The next URL, or the last good document.
      }
    }
    return this.#document;
  }

  #keep(document: JsonObject): void {
    this.#fetchedAt = performance.now();
    const text = JSON.stringify(document);
    if (text === this.#text) return;
    this.#text = text;
    this.#document = document;
  }
}
