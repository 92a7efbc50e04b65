import { readFileSync, renameSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GatewayContext, KeptState } from "../../process/gateway-context.ts";
import { Bucket, type BucketLimit, type BucketUse } from "./bucket.ts";

/** What callers have used of one limit, the one that was seen last at the end; the key of all together is empty. */
type Uses = Map<string, KeptUse>;

interface KeptUse extends BucketUse {
  /** When nothing of it will count any more, in milliseconds. */
  until: number;
}

/** Milliseconds from a change to its being written: a process that is killed loses no more, and the time to write. */
const writeDelay = 500;

/**
 * What was used of limits that a restart must not reset. It is in memory, and below GWC_STATE_DIR in a file that is
 * replaced as a whole, so that it is never half written.
 */
export class KeptUses implements KeptState {
  readonly #limits = new Map<string, Uses>();
  readonly #file: string | undefined;
  readonly #warn: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  /** Writes happen one after the other. */
  #writing: Promise<void> = Promise.resolve();
  #hasFailed = false;

  private constructor({ stateDir, env, warn }: GatewayContext) {
    this.#warn = warn;
    this.#file = stateDir && join(stateDir, `${encodeURIComponent(env.gateway)}.limits.json`);
    if (this.#file === undefined) {
      warn("limits by the hour, day and month begin anew at each start: GWC_STATE_DIR is not set");
    } else this.#read(this.#file);
  }

  /** Those of a process: they outlive a reload of the configuration. */
  static of(gateway: GatewayContext): KeptUses {
    const kept = gateway.keptStates.get("limits");
    if (kept instanceof KeptUses) return kept;
    const opened = new KeptUses(gateway);
    gateway.keptStates.set("limits", opened);
    return opened;
  }

  /** The bucket of a key of the limit `name`, of which at most `maxKeys` are remembered. */
  bucket(name: string, key: string, limit: BucketLimit, maxKeys: number): Bucket {
    const uses: Uses = this.#limits.get(name) ?? new Map();
    this.#limits.set(name, uses);
    const use = uses.get(key) ?? { used: 0, since: undefined, until: 0 };
    if (!uses.delete(key) && uses.size >= maxKeys) forgetOne(uses);
    uses.set(key, use);
    return new Bucket(limit, use, () => {
      // It may have been forgotten while its call was under way.
      if (!uses.has(key)) uses.set(key, use);
      const { window, refill } = limit;
      const count = Math.max(0, Math.ceil(use.used / refill));
      use.until = window.after(use.since ?? window.now(), count);
      this.#change();
    });
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const file = this.#file;
    if (file !== undefined && this.#hasChanged) {
      this.#hasChanged = false;
      this.#writing = this.#writing.then(() => this.#write(file));
    }
    return this.#writing;
  }

  #change(): void {
    if (this.#file === undefined) return;
    this.#hasChanged = true;
    this.#timer ??= setTimeout(() => void this.flush(), writeDelay).unref();
  }

  async #write(file: string): Promise<void> {
    const draft = `${file}.${process.pid}.draft`;
    try {
      await writeFile(draft, this.#text(), { mode: 0o600, flush: true });
      await rename(draft, file);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#warn(`${file} can't be written: ${reason(error)}`);
      this.#hasFailed = true;
      this.#change();
    }
  }

  #text(): string {
    const now = Date.now();
    const limits = Array.from(this.#limits, ([name, uses]) => {
      const counting = Array.from(uses).filter(([, { until }]) => until > now);
      return [name, Object.fromEntries(counting)] as const;
    });
    const kept = limits.filter(([, uses]) => Object.keys(uses).length > 0);
    return `${JSON.stringify({ version: 1, limits: Object.fromEntries(kept) })}\n`;
  }

  #read(file: string): void {
    try {
      const text = readFileSync(file, "utf8");
      for (const [name, uses] of readLimits(JSON.parse(text))) this.#limits.set(name, uses);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
      renameSync(file, `${file}.unreadable`);
      this.#warn(`${file} can't be read and is put aside, limits begin anew: ${reason(error)}`);
    }
  }
}

/** The oldest one of which nothing counts: who makes keys up must not make others forgotten. Else the oldest. */
function forgetOne(uses: Uses): void {
  const now = Date.now();
  const idle = uses.entries().find(([, { until }]) => until <= now);
  const [key] = idle ?? uses.entries().next().value ?? [];
  if (key !== undefined) uses.delete(key);
}

/** What a file says. Throws when it is of another kind. */
function readLimits(text: unknown): readonly (readonly [name: string, uses: Uses])[] {
  const { version, limits } = members(text);
  if (version !== 1) throw new Error("it is of another version");
  return Object.entries(members(limits)).map(([name, uses]) => [
    name,
    new Map(Object.entries(members(uses)).map(([key, use]) => [key, readUse(members(use))])),
  ]);
}

function readUse({ used, since, until }: Readonly<Record<string, unknown>>): KeptUse {
  if (typeof used === "number" && typeof since === "number" && typeof until === "number") {
    return { used, since, until };
  }
  throw new Error("what was used is no number");
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error("it is no list of limits");
  return Object.fromEntries(Object.entries(value));
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
