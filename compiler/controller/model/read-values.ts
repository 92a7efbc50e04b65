import { setTimeout as pause } from "node:timers/promises";
import {
  type ApiObject,
  objectKey,
  type ResourceType,
  resourcePath,
} from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { recordOf } from "../kubernetes/json-fields.ts";
import { errorText } from "../kubernetes/reflector.ts";

/** Entries of an object: those of a Secret are in base64. */
export type EntryValues = Readonly<Record<string, unknown>>;

/** Values to read of the objects of a kind. */
export interface ReadValuesSettings {
  readonly api: ApiServer;
  readonly type: ResourceType;
  /** Keys (`NAMESPACE/NAME`) of those that are read at all times. */
  readonly always: readonly string[];
  /** The only entry that is read; all entries if `undefined`. */
  readonly entry: string | undefined;
  readonly warn: (message: string) => void;
}

/** Objects that are read at a time, and how long the API server is left alone when it does not say anything, in milliseconds. */
const AT_ONCE = 8;
const ASK_AGAIN = 1_000;
/** HTTP 404: the object is gone. */
const MISSING = 404;

/** The values of the Secrets or ConfigMaps that Gateways read. A cluster holds many others, of any size. */
export class ReadValues {
  readonly #settings: ReadValuesSettings;
  #read: ReadonlySet<string>;
  readonly #values: Map<string, EntryValues> = new Map();
  #isStopped = false;

  constructor(settings: ReadValuesSettings) {
    this.#settings = settings;
    this.#read = new Set(settings.always);
  }

  /** Returns the entries of an object; `undefined` if it does not exist, or nobody reads it. */
  of(key: string): EntryValues | undefined {
    return this.#values.get(key);
  }

  /** Keeps the entries of an object, if somebody reads them. */
  take({ metadata, data }: ApiObject): void {
    const key = objectKey(metadata);
    if (this.#read.has(key)) this.#values.set(key, this.#entriesOf(data));
  }

  /** An object is gone. */
  forget(key: string): void {
    this.#values.delete(key);
  }

  /**
   * From now on the entries of these are kept, and of no others; resolves when those are known of which `isThere` says
   * that they are there: the others may come.
   */
  async keep(keys: ReadonlySet<string>, isThere: (key: string) => boolean): Promise<void> {
    this.#read = new Set([...this.#settings.always, ...keys]);
    for (const key of this.#values.keys()) if (!this.#read.has(key)) this.#values.delete(key);
    const unknown = [...this.#read].filter((key) => !this.#values.has(key) && isThere(key));
    const missing = unknown.values();
    const fetchAll = async (): Promise<void> => {
      for (const key of missing) await this.#fetch(key);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, fetchAll));
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Until the API server says something: without its values a Gateway would be worse than the one before. */
  async #fetch(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const { api, type, warn } = this.#settings;
    const path = resourcePath(type, namespace, name);
    while (!this.#isStopped) {
      try {
        const { status, body } = await api.request({ method: "GET", path });
        if (status === MISSING) return;
        if (status !== 200) throw new Error(`status ${status}`);
        // The watch may have delivered a newer state meanwhile.
        if (!this.#values.has(key)) this.#values.set(key, this.#entriesOf(recordOf(body)?.data));
        return;
      } catch (error) {
        warn(`the ${type.kind} ${key}: ${errorText(error)}`);
        await pause(ASK_AGAIN);
      }
    }
  }

  #entriesOf(data: unknown): EntryValues {
    const { entry } = this.#settings;
    const all = recordOf(data) ?? {};
    if (entry === undefined) return all;
    return Object.hasOwn(all, entry) ? { [entry]: all[entry] } : {};
  }
}
