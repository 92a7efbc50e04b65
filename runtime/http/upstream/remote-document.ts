import type { JsonObject } from "../../cel/variables.ts";
import type { GatewayContext, SharedDocument } from "../../process/gateway-context.ts";
import type { FetchLimits } from "./fetch-request.ts";
import { fetchResponse } from "./fetch-response.ts";
import type { Upstream } from "./upstream.ts";

/** Milliseconds between two fetches that requests cause; shorter until the first success. */
const WINDOW = 10_000;
const FIRST_WINDOW = 1_000;

/** A document that the configuration names by URL. */
export interface DocumentSettings {
  /** Type and URL, unique in the process: `key set https://...`. */
  readonly name: string;
  /** Type, for the log: `key set`. */
  readonly what: string;
  /** Tried in order until a document is accepted. */
  readonly urls: readonly string[];
  /** The server of the URLs, if it is reached in a special way. */
  readonly server?: Upstream;
  /** Throws if the document must not be used. */
  readonly accept: (document: JsonObject) => void;
}

/** Returns the document of these settings in this process. Policies with the same URLs share it, and it survives a reload. */
export function remoteDocument(
  gateway: GatewayContext,
  settings: DocumentSettings,
): SharedDocument {
  let document = gateway.documents.get(settings.name);
  if (document === undefined) {
    document = new RemoteDocument(settings, gateway.warn);
    gateway.documents.set(settings.name, document);
  }
  return document;
}

/**
 * A cached JSON document of another server: a key set, a server's metadata. One fetch at a time, at most one in 10 seconds (in
 * 1 second until the first success), none unless a request needs it. If a fetch fails or its document is not accepted, that is
 * logged and the last good one stays in use. It holds no timer and no connection, so it needs no closing.
 */
class RemoteDocument implements SharedDocument {
  readonly #settings: DocumentSettings;
  readonly #warn: (message: string) => void;
  #document: JsonObject | undefined;
  #text = "";
  #triedAt = Number.NEGATIVE_INFINITY;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #pending: Promise<JsonObject | undefined> | undefined;

  constructor(settings: DocumentSettings, warn: (message: string) => void) {
    this.#settings = settings;
    this.#warn = warn;
  }

  current(maxAge: number): JsonObject | undefined {
    if (performance.now() - this.#fetchedAt > maxAge && this.#document !== undefined) {
      void this.renewed();
    }
    return this.#document;
  }

  renewed(): Promise<JsonObject | undefined> {
    if (this.#pending !== undefined) return this.#pending;
    const wait = this.#document === undefined ? FIRST_WINDOW : WINDOW;
    if (performance.now() - this.#triedAt < wait) return Promise.resolve(this.#document);
    this.#triedAt = performance.now();
    this.#pending = this.#fetch().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #fetch(): Promise<JsonObject | undefined> {
    const { what, urls, server, accept } = this.#settings;
    const problems: string[] = [];
    for (const url of urls) {
      try {
        const document = await fetchJson(url, server);
        accept(document);
        this.#keep(document);
        return this.#document;
      } catch (error) {
        problems.push(`${withoutQuery(url)}: ${problem(error)}`);
      }
    }
    const rest = this.#document === undefined ? "" : "; the last good one stays in use";
    this.#warn(`no ${what} from ${problems.join(", ")}${rest}`);
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

/** Removes the query, which may hold a key. */
function withoutQuery(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

/** Describes an error. A failed connection to several addresses has no message, only a code. */
function problem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}

const limits: FetchLimits = { maxBytes: 512 * 1024, deadline: 5_000, expectedStatus: 200 };

/**
 * Fetches a JSON object that the configuration names by URL (a key set, a server's metadata): within 5 seconds, at most 512
 * KiB. `server`: the URL's server, if it is reached in a special way. Throws if that fails.
 */
async function fetchJson(url: string, server?: Upstream): Promise<JsonObject> {
  const headers = ["accept", "application/json"];
  const { body } = await fetchResponse({ method: "GET", url, headers, server }, limits);
  const value: unknown = JSON.parse(body.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("not a JSON object");
  }
  // An object that is not an array has string keys, as JsonObject requires.
  return value as JsonObject;
}
