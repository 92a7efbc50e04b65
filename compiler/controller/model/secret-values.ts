import { setTimeout as pause } from "node:timers/promises";
import { type ApiObject, objectKey } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { recordOf } from "../kubernetes/json-fields.ts";
import { errorText } from "../kubernetes/reflector.ts";

/** Entries of a Secret, each in base64. */
export type SecretData = Readonly<Record<string, unknown>>;

/** Secrets that are read at a time, and how long the API server is left alone when it does not say anything, in milliseconds. */
const AT_ONCE = 8;
const ASK_AGAIN = 1_000;
/** HTTP 404: the Secret is gone. */
const MISSING = 404;

/** The values of Secrets that somebody reads: a cluster holds many others, and their size is up to whoever writes them. */
export class SecretValues {
  readonly #api: ApiServer;
  readonly #warn: (message: string) => void;
  /** Keys (`NAMESPACE/NAME`) of those that are read at all times. */
  readonly #always: readonly string[];
  #read: ReadonlySet<string>;
  readonly #values: Map<string, SecretData> = new Map();
  #isStopped = false;

  constructor(api: ApiServer, always: readonly string[], warn: (message: string) => void) {
    this.#api = api;
    this.#always = always;
    this.#read = new Set(always);
    this.#warn = warn;
  }

  /** The entries of a Secret; undefined: it is not there, or nobody reads it. */
  of(key: string): SecretData | undefined {
    return this.#values.get(key);
  }

  /** Keeps the entries of a Secret, if somebody reads them. */
  take({ metadata, data }: ApiObject): void {
    const key = objectKey(metadata);
    if (this.#read.has(key)) this.#values.set(key, recordOf(data) ?? {});
  }

  /** A Secret is gone. */
  forget(key: string): void {
    this.#values.delete(key);
  }

  /**
   * From now on the entries of these are kept, and of no others; resolves when those are known of which `isThere` says
   * that there are such Secrets: the others may come.
   */
  async keep(keys: ReadonlySet<string>, isThere: (key: string) => boolean): Promise<void> {
    this.#read = new Set([...this.#always, ...keys]);
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

  /** Until the API server says something: without its Secrets a Gateway would be worse than the one before. */
  async #fetch(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const path = `/api/v1/namespaces/${namespace}/secrets/${encodeURIComponent(name)}`;
    while (!this.#isStopped) {
      try {
        const { status, body } = await this.#api.request({ method: "GET", path });
        if (status === MISSING) return;
        if (status !== 200) throw new Error(`status ${status}`);
        // What a watch has brought meanwhile is as new, or newer.
        if (!this.#values.has(key)) this.#values.set(key, recordOf(recordOf(body)?.data) ?? {});
        return;
      } catch (error) {
        this.#warn(`the Secret ${key}: ${errorText(error)}`);
        await pause(ASK_AGAIN);
      }
    }
  }
}
