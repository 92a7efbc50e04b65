import { setTimeout as pause } from "node:timers/promises";
import {
  type ApiObject,
  objectKey,
  type ResourceType,
  readObject,
  resourcePath,
} from "./api-object.ts";
import { type ApiServer, WatchRefused } from "./api-server.ts";
import { itemsField, recordOf, textField } from "./json-fields.ts";

/** Objects that a reflector follows, and its listeners. */
export interface ReflectorSettings {
  readonly type: ResourceType;
  /** Namespace; all if `undefined`. */
  readonly namespace?: string | undefined;
  /** Selector of objects; all if `undefined`. */
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Reduces an object to the fields that are read, to save memory. */
  readonly keep: (object: ApiObject) => ApiObject;
  /** Returns how many milliseconds a changed object waits before it is reduced; only its newest state is. */
  readonly delayOf?: ((object: ApiObject) => number) | undefined;
  /** Called after each change of `objects`, with what was there before. */
  readonly changed: (key: string, before: ApiObject | undefined) => void;
  /** Reports a problem to the operator; the reflector continues. */
  readonly warn: (message: string) => void;
}

/** Objects of a page of a list. Those that hold data may have 1 MB each, and a page is read whole. */
const PAGE = 500;
const DATA_PAGE = 20;
/** Kinds of objects that hold data. */
const DATA_KINDS = ["Secret", "ConfigMap"];
/** How long the server keeps a watch open, in seconds; a part of it is random, so that not all end at once. */
const WATCH_TIME = 300;
/** Milliseconds that a watch may be silent beyond its time: bookmarks come about once a minute. */
const SILENCE = (WATCH_TIME * 2 + 30) * 1000;
/** The first pause after a failure and the longest, in milliseconds. */
const FIRST_PAUSE = 250;
const MAX_PAUSE = 30_000;
/** How long a watch has to last for the next failure to be a first one again. */
const STEADY = 10_000;

/**
 * The objects of one kind, kept in step with the API server: a list, then a watch from there. An interrupted watch is
 * resumed, and starts again with a list if the server no longer knows the place (410). Ends only with `stop`.
 */
export class Reflector {
  readonly objects: Map<string, ApiObject> = new Map();
  /** Resolves when the first list is there. */
  readonly synced: Promise<void>;
  readonly #api: ApiServer;
  readonly type: ResourceType;
  readonly #settings: ReflectorSettings;
  readonly #stopped = new AbortController();
  #sync: () => void = () => {};
  /** Timers of changed objects that wait. */
  readonly #waiting: Map<string, NodeJS.Timeout> = new Map();
  #version: string | undefined;
  #failures = 0;
  /** How often the kind was listed. */
  lists = 0;

  constructor(api: ApiServer, settings: ReflectorSettings) {
    this.#api = api;
    this.#settings = settings;
    this.type = settings.type;
    this.synced = new Promise((resolve) => {
      this.#sync = resolve;
    });
    void this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
    this.#forgetWaiting();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const began = performance.now();
      try {
        this.#version ??= await this.#list();
        await this.#watch(this.#version);
        this.#failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (performance.now() - began > STEADY) this.#failures = 0;
        if (error instanceof WatchRefused && error.status === GONE) this.#version = undefined;
        else this.#settings.warn(`${this.#settings.type.plural}: ${errorText(error)}`);
        await this.#pause();
      }
    }
  }

  /** Everything there is, page by page; what is no longer there is forgotten. Gives the place to watch from. */
  async #list(): Promise<string> {
    const { type, keep, namespace } = this.#settings;
    const found = new Map<string, ApiObject>();
    let [next, version] = ["", ""];
    do {
      const limit = DATA_KINDS.includes(type.kind) ? DATA_PAGE : PAGE;
      const query = this.#query({ limit: String(limit) });
      if (next !== "") query.set("continue", next);
      const path = `${resourcePath(type, namespace)}?${query}`;
      const { status, body } = await this.#api.request({ method: "GET", path });
      // The definition of the kind is gone, and so is all that was of it.
      if (status === 404) for (const key of [...this.objects.keys()]) this.#set(key, undefined);
      if (status !== 200) throw new WatchRefused(status, `a list has status ${status}`);
      for (const item of itemsField(body, "items")) {
        const object = readObject(item, type);
        if (object === undefined) continue;
        const key = objectKey(object.metadata);
        const known = this.objects.get(key);
        // Reducing a large Secret takes a while, and most objects have not changed when a kind is listed again.
        const isKnown = known?.metadata.resourceVersion === object.metadata.resourceVersion;
        found.set(key, known !== undefined && isKnown ? known : keep(object));
      }
      const metadata = recordOf(body)?.metadata;
      next = textField(metadata, "continue") ?? "";
      version = textField(metadata, "resourceVersion") ?? "";
    } while (next !== "");
    this.lists += 1;
    this.#forgetWaiting();
    for (const key of [...this.objects.keys()]) if (!found.has(key)) this.#set(key, undefined);
    for (const [key, object] of found) this.#set(key, object);
    this.#sync();
    return version;
  }

  #watch(from: string): Promise<void> {
    const { type, namespace } = this.#settings;
    const time = WATCH_TIME + Math.floor(Math.random() * WATCH_TIME);
    const query = this.#query({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: from,
      timeoutSeconds: String(time),
    });
    return this.#api.watch(
      `${resourcePath(type, namespace)}?${query}`,
      (event) => this.#take(event),
      {
        silence: SILENCE,
        signal: this.#stopped.signal,
      },
    );
  }

  #query(parameters: Readonly<Record<string, string>>): URLSearchParams {
    const { fieldSelector, labelSelector } = this.#settings;
    const query = new URLSearchParams(parameters);
    if (fieldSelector !== undefined) query.set("fieldSelector", fieldSelector);
    if (labelSelector !== undefined) query.set("labelSelector", labelSelector);
    return query;
  }

  #take(event: unknown): void {
    const { type } = this.#settings;
    const kind = textField(event, "type");
    const value = recordOf(event)?.object;
    if (kind === "ERROR") {
      const code = recordOf(value)?.code;
      throw new WatchRefused(
        typeof code === "number" ? code : 0,
        textField(value, "message") ?? "an error of the watch",
      );
    }
    this.#version = textField(recordOf(value)?.metadata, "resourceVersion") ?? this.#version;
    const object = kind === "BOOKMARK" ? undefined : readObject(value, type);
    if (object === undefined) return;
    const key = objectKey(object.metadata);
    clearTimeout(this.#waiting.get(key));
    this.#waiting.delete(key);
    if (kind === "DELETED") this.#set(key, undefined);
    else this.#keep(key, object);
  }

  #keep(key: string, object: ApiObject): void {
    const delay = this.#settings.delayOf?.(object) ?? 0;
    this.#waiting.delete(key);
    if (delay === 0) this.#set(key, this.#settings.keep(object));
    else {
      const timer = setTimeout(() => this.#keep(key, object), delay);
      this.#waiting.set(key, timer);
    }
  }

  #forgetWaiting(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #set(key: string, object: ApiObject | undefined): void {
    const before = this.objects.get(key);
    if (object === undefined) this.objects.delete(key);
    else this.objects.set(key, object);
    const isSame = object?.metadata.resourceVersion === before?.metadata.resourceVersion;
    if (!isSame || (object === undefined) !== (before === undefined))
      this.#settings.changed(key, before);
  }

  /** Longer after each failure, and never the same for all: a server that comes back is not stormed. */
  #pause(): Promise<void> {
    const longest = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
    this.#failures += 1;
    const time = longest * (0.5 + Math.random() / 2);
    return pause(time, undefined, { signal: this.#stopped.signal }).catch(() => {});
  }
}

/** HTTP 410, and the code of an ERROR event: the resourceVersion is too old. */
const GONE = 410;

/** Returns the text of an error for a log. Failures of connections have a code instead of a text. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
