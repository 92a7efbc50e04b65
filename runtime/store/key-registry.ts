import { randomBytes } from "node:crypto";
import type { JsonObject } from "../cel/variables.ts";
import { keyDigest } from "../contents/api-key-entry.ts";
import type { Store } from "./store.ts";
import {
  checkKeyName,
  checkLimit,
  checkMetadata,
  checkModels,
  type KeyLimit,
  MAX_KEY_PARTS,
  readStoredKey,
  type StoredKey,
  writeStoredKey,
} from "./stored-key.ts";

/** Properties of a key that a person chooses. */
export interface KeyChoices {
  readonly metadata: JsonObject;
  /** Models that the holder may use; `undefined` for any. */
  readonly models: readonly string[] | undefined;
  readonly limits: readonly KeyLimit[];
  /** In milliseconds since the epoch; `undefined` if it does not expire. */
  readonly expires: number | undefined;
}

/** A key in the store, and its digest. */
export interface ListedKey extends StoredKey {
  readonly digest: string;
}

/** A change that is not possible, such as a name that is taken. The message is for the person who asked. */
export class KeyError extends Error {
  override readonly name = "KeyError";
  readonly kind: KeyErrorKind;

  constructor(message: string, kind: KeyErrorKind = "invalid") {
    super(message);
    this.kind = kind;
  }
}

/** Kind of a KeyError: the request is invalid, there is no such key, its name is taken, or another process changed it. */
export type KeyErrorKind = "invalid" | "absent" | "taken" | "changed";

/**
 * The keys of a store: makes, changes and ends them. Each change is atomic, also if another process changes the same key.
 *
 * @example
 * const keys = new KeyRegistry(store);
 * const { key } = await keys.create("ci", { metadata: { team: "red" }, models: undefined, limits: [], expires: undefined });
 */
export class KeyRegistry {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Makes a key, which is returned here and nowhere else. Throws a KeyError if the name is taken. */
  async create(name: string, choices: KeyChoices): Promise<{ readonly key: string }> {
    const key = newKey();
    await this.adopt(name, keyDigest(key), key.slice(0, SHOWN), choices);
    return { key };
  }

  /** Adds a key of which only the digest is known (SHA-256, hex). Throws a KeyError if the name or the key is taken. */
  async adopt(name: string, digest: string, shown: string, choices: KeyChoices): Promise<void> {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new KeyError("a digest has 64 hexadecimal digits");
    const id = randomBytes(8).toString("hex");
    const key: StoredKey = {
      ...{ id, name: this.#checked(() => checkKeyName(name)), shown },
      ...this.#validChoices(choices),
      created: Date.now(),
      isReplaced: false,
    };
    const named = await this.#store.read("key-names", name);
    // A name without a key is left over from one that expired, or from a process that died in between.
    if (named !== undefined && (await this.#key(named)) !== undefined)
      throw new KeyError(`there is a key with the name "${name}"`, "taken");
    if (!(await this.#store.replace("key-names", name, { was: named, value: digest })))
      throw new KeyError(`another process has just used the name "${name}"`, "taken");
    if (!(await this.#write(digest, undefined, key))) {
      await this.#store.replace("key-names", name, { was: digest, value: named });
      throw new KeyError("the store has this key already", "taken");
    }
  }

  /** Returns all keys by name, replaced ones after their successor. Unreadable records are omitted and counted. */
  async list(): Promise<{ readonly keys: readonly ListedKey[]; readonly unreadable: number }> {
    const records = await this.#store.list("keys");
    const keys = Array.from(records, ([digest, text]) => parsed(digest, text) ?? []).flat();
    const order = (key: ListedKey) => `${key.name}\n${key.isReplaced ? 1 : 0}${key.digest}`;
    const sorted = keys.toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
    return { keys: sorted, unreadable: records.size - keys.length };
  }

  /** Returns the valid key of a name. Throws a KeyError if there is none. */
  async show(name: string): Promise<ListedKey> {
    return (await this.#named(name)).key;
  }

  /**
   * Changes a key; absent members stay as they are. Replaced keys change as well, and end when they would have ended, so that
   * an old key never permits more. Throws a KeyError if there is none.
   */
  async update(name: string, change: Partial<KeyChoices>): Promise<ListedKey> {
    const { key } = await this.#named(name);
    for (const [digest, text] of await this.#store.list("keys")) {
      const each = parsed(digest, text);
      if (each?.id !== key.id) continue;
      const { digest: _, ...rest } = each;
      const choices = this.#validChoices({ ...rest, ...change });
      const expires = each.isReplaced ? earlier(rest.expires, choices.expires) : choices.expires;
      if (!(await this.#write(digest, text, { ...rest, ...choices, expires })))
        throw changedMeanwhile(name);
    }
    return this.show(name);
  }

  /**
   * Makes a new key in place of another, which stays valid for this many milliseconds. Both have the same holder, limits and
   * counters.
   */
  async rotate(name: string, overlap: number): Promise<{ readonly key: string }> {
    const { key: old, text } = await this.#named(name);
    const { digest: oldDigest, ...rest } = old;
    const key = newKey();
    const digest = keyDigest(key);
    const next: StoredKey = { ...rest, shown: key.slice(0, SHOWN), created: Date.now() };
    await this.#write(digest, undefined, next);
    if (!(await this.#store.replace("key-names", name, { was: oldDigest, value: digest }))) {
      await this.#store.replace("keys", digest, {
        was: writeStoredKey(digest, next),
        value: undefined,
      });
      throw changedMeanwhile(name);
    }
    const until = earlier(Date.now() + overlap, rest.expires);
    const isDone =
      overlap === 0
        ? await this.#store.replace("keys", oldDigest, { was: text, value: undefined })
        : await this.#write(oldDigest, text, { ...rest, expires: until, isReplaced: true });
    if (!isDone) throw changedMeanwhile(name);
    return { key };
  }

  /** Ends a key and all that it replaced. Throws a KeyError if there is none. Returns how many keys ended. */
  async revoke(name: string): Promise<number> {
    const records = await this.#store.list("keys");
    let count = 0;
    for (const [digest, text] of records) {
      if (parsed(digest, text)?.name !== name) continue;
      await this.#delete(digest, text);
      count += 1;
    }
    const named = await this.#store.read("key-names", name);
    if (named !== undefined)
      await this.#store.replace("key-names", name, { was: named, value: undefined });
    if (count === 0) throw new KeyError(`there is no key with the name "${name}"`, "absent");
    return count;
  }

  /** Deletes a record, whatever it has become in the meantime. */
  async #delete(digest: string, text: string): Promise<void> {
    let was: string | undefined = text;
    while (was !== undefined) {
      if (await this.#store.replace("keys", digest, { was, value: undefined })) return;
      was = await this.#store.read("keys", digest);
    }
  }

  async #named(name: string): Promise<{ readonly key: ListedKey; readonly text: string }> {
    const digest = await this.#store.read("key-names", name);
    const text = digest === undefined ? undefined : await this.#store.read("keys", digest);
    const key = digest === undefined || text === undefined ? undefined : parsed(digest, text);
    if (key === undefined || text === undefined)
      throw new KeyError(`there is no key with the name "${name}"`, "absent");
    return { key, text };
  }

  async #key(digest: string): Promise<ListedKey | undefined> {
    const text = await this.#store.read("keys", digest);
    return text === undefined ? undefined : parsed(digest, text);
  }

  #write(digest: string, was: string | undefined, key: StoredKey): Promise<boolean> {
    const value = writeStoredKey(digest, key);
    return this.#store.replace("keys", digest, { was, value, expires: key.expires });
  }

  #validChoices({ metadata, models, limits, expires }: KeyChoices): KeyChoices {
    return this.#checked(() => {
      if (expires !== undefined && expires <= Date.now()) throw new Error("the key has expired");
      if (limits.length > MAX_KEY_PARTS.limits)
        throw new Error(`a key has at most ${MAX_KEY_PARTS.limits} limits`);
      return {
        metadata: checkMetadata(metadata),
        models: models && checkModels(models),
        limits: limits.map(checkLimit),
        expires,
      };
    });
  }

  #checked<Value>(check: () => Value): Value {
    try {
      return check();
    } catch (error) {
      throw new KeyError(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Characters of a key that are stored and shown. The rest has 232 random bits. */
const SHOWN = 8;

function newKey(): string {
  return `gwc_${randomBytes(32).toString("base64url")}`;
}

function parsed(digest: string, text: string): ListedKey | undefined {
  try {
    return { digest, ...readStoredKey(digest, text) };
  } catch {
    return undefined;
  }
}

/** Returns the earlier time; `undefined` stands for never. */
function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function changedMeanwhile(name: string): KeyError {
  return new KeyError(`another process has just changed the key "${name}": try again`, "changed");
}
