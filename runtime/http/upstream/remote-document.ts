import type { JsonObject } from "../../cel/variables.ts";
import type { GatewayContext, SharedDocument } from "../../process/gateway-context.ts";
import type { FetchLimits } from "./fetch-request.ts";
import { fetchResponse } from "./fetch-response.ts";
import type { Upstream } from "./upstream.ts";

/** Milliseconds between two fetches that requests ask for; shorter while there is nothing to work with. */
const WINDOW = 10_000;
const FIRST_WINDOW = 1_000;

/** A document that the configuration names by URL. */
export interface DocumentSettings {
  /** What it is and where, unique in the process: `key set https://...`. */
  readonly name: string;
  /** What it is, for the log: `key set`. */
  readonly what: string;
  /** Tried in order; the first document that is accepted counts. */
  readonly urls: readonly string[];
  /** The server of the URLs, when it is reached in a way of its own. */
  readonly server?: Upstream;
  /** Throws on a document that must not be used. */
  readonly accept: (document: JsonObject) => void;
}

/** The document of these settings in this process: policies that name the same URLs share it, a reload keeps it. */
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
 * A JSON document on another server, kept in memory: a key set, a server's metadata.
 *
 * One fetch at a time, at most one in 10 seconds (in 1 second until the first success), none unless a request needs it.
 * A failed fetch, or a document that is not accepted, leaves the last good one in use and is logged. It holds no timer
 * and no connection, so it needs no closing.
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

/** A query may hold a key. */
function withoutQuery(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

/** A failed connection to several addresses says nothing by itself; its code does. */
function problem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}

const limits: FetchLimits = { maxBytes: 512 * 1024, deadline: 5_000, expectedStatus: 200 };

/**
 * Fetches a JSON object that the configuration names by URL (a key set, a server's metadata): within 5 seconds, at most
 * 512 KiB. `server` is the URL's server when it is reached in a way of its own. Throws when it does not get one.
 */
export async function fetchJson(url: string, server?: Upstream): Promise<JsonObject> {
  const headers = ["accept", "application/json"];
  const { body } = await fetchResponse({ method: "GET", url, headers, server }, limits);
  const value: unknown = JSON.parse(body.toString("utf8"));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("not a JSON object");
  }
  // An object that is no array has string keys: JsonObject says no more.
  return value as JsonObject;
}
