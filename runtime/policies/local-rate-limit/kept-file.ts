import { hash } from "node:crypto";
import { readFileSync, renameSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { limitsFile } from "../../process/state-files.ts";
import type { KeptUse } from "./bucket.ts";
import { DIGEST_BYTES } from "./shared-uses.ts";

/** What callers have used of one limit, the one that was seen last at the end; the key of all together is empty. */
export type Uses = Map<string, KeptUse>;

/** Milliseconds from a change to its being written: a process that is killed loses no more, and the time to write. */
export const WRITE_DELAY = 500;

/**
 * The file below GWC_STATE_DIR that says what was used of limits that a restart must not reset. It is replaced as a whole, so
 * that it is never half written.
 */
export class KeptFile {
  /** Undefined: nothing is written down. */
  readonly #path: string | undefined;
  readonly #warn: (message: string) => void;
  /** Writes happen one after the other. */
  #writing: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor({ stateDir, env, warn }: Pick<GatewayContext, "stateDir" | "env" | "warn">) {
    this.#warn = warn;
    this.#path = stateDir && limitsFile(stateDir, env.gateway);
    if (this.#path === undefined)
      warn("limits by the hour, day and month begin anew at each start: GWC_STATE_DIR is not set");
  }

  get isThere(): boolean {
    return this.#path !== undefined;
  }

  /** What it says, by the names of limits. */
  read(): Map<string, Uses> {
    const path = this.#path;
    if (path === undefined) return new Map();
    try {
      return new Map(readLimits(JSON.parse(readFileSync(path, "utf8"))));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return new Map();
      this.#putAside(path, reason(error));
      return new Map();
    }
  }

  /** Writes what counts of that by then, after what is being written. False: it could not be. */
  async write(limits: ReadonlyMap<string, Uses>): Promise<boolean> {
    const path = this.#path;
    if (path === undefined) return true;
    const writing = this.#writing.then(() => this.#write(path, limits));
    this.#writing = writing.then(() => {});
    return writing;
  }

  /** Resolves when all is written, or could not be. */
  written(): Promise<void> {
    return this.#writing;
  }

  /** A request waits for what is read: it goes on, whatever stands in the way. */
  #putAside(path: string, why: string): void {
    try {
      renameSync(path, `${path}.unreadable`);
      this.#warn(`${path} can't be read and is put aside, limits begin anew: ${why}`);
    } catch (error) {
      const problem = `${why}; it can't be put aside either: ${reason(error)}`;
      this.#warn(`${path} can't be read, limits begin anew and are in memory alone: ${problem}`);
    }
  }

  async #write(path: string, limits: ReadonlyMap<string, Uses>): Promise<boolean> {
    const draft = `${path}.${process.pid}.draft`;
    try {
      await writeFile(draft, textOf(limits), { mode: 0o600, flush: true });
      await rename(draft, path);
      this.#hasFailed = false;
      return true;
    } catch (error) {
      if (!this.#hasFailed) this.#warn(`${path} can't be written: ${reason(error)}`);
      this.#hasFailed = true;
      return false;
    }
  }
}

/** What stands for a key: what keys say is not written down. */
export function keptKey(text: string): string {
  return hash("sha256", text, "buffer").toString("base64url", 0, DIGEST_BYTES);
}

function textOf(all: ReadonlyMap<string, Uses>): string {
  const now = Date.now();
  const limits = Array.from(all, ([name, uses]) => {
    const counting = Array.from(uses).filter(([, { until }]) => until > now);
    return [name, Object.fromEntries(counting)] as const;
  });
  const kept = limits.filter(([, uses]) => Object.keys(uses).length > 0);
  return `${JSON.stringify({ version: 1, limits: Object.fromEntries(kept) })}\n`;
}

/** What a file says. Throws when it is of another kind. */
function readLimits(text: unknown): readonly (readonly [name: string, uses: Uses])[] {
  const { version, limits } = members(text);
  if (version !== 1) throw new Error("it is of another version");
  return Object.entries(members(limits)).map(([name, uses]) => [
    name,
    new Map(
      Object.entries(members(uses)).map(([key, use]) => [shortKey(key), readUse(members(use))]),
    ),
  ]);
}

/** Files of before have the whole digests. */
function shortKey(key: string): string {
  return Buffer.from(key, "base64url").toString("base64url", 0, DIGEST_BYTES);
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
