import { hash } from "node:crypto";
import { readFileSync, renameSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { limitsFile } from "../../process/state-files.ts";
import type { PersistedUse } from "./bucket.ts";
import { DIGEST_BYTES } from "./shared-uses.ts";

/** The usage of one limit by key, least recently seen first; the empty key stands for all callers together. */
export type Uses = Map<string, PersistedUse>;

/** Milliseconds from a change until it is written: a killed process loses at most this much. */
export const WRITE_DELAY = 500;

/**
 * The file in GWC_STATE_DIR with the usage of limits that a restart must not reset. It is replaced atomically, so that it
 * is never half written.
 */
export class LimitsFile {
  /** `undefined` if nothing is persisted. */
  readonly #path: string | undefined;
  readonly #warn: (message: string) => void;
  /** Writes are sequential. */
  #writing: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor({ stateDir, env, warn }: Pick<GatewayContext, "stateDir" | "env" | "warn">) {
    this.#warn = warn;
    this.#path = stateDir && limitsFile(stateDir, env.gateway);
    if (this.#path === undefined)
      warn("hourly, daily and monthly limits reset on restart: GWC_STATE_DIR is not set");
  }

  get isThere(): boolean {
    return this.#path !== undefined;
  }

  /** Reads the file, by names of limits. */
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

  /** Writes the current usage after previous writes have ended. Returns false if that fails. */
  async write(limits: ReadonlyMap<string, Uses>): Promise<boolean> {
    const path = this.#path;
    if (path === undefined) return true;
    const writing = this.#writing.then(() => this.#write(path, limits));
    this.#writing = writing.then(() => {});
    return writing;
  }

  /** Resolves when all writes have ended. */
  written(): Promise<void> {
    return this.#writing;
  }

  /** Moves an unreadable file out of the way. Never throws, because a request waits for the read. */
  #putAside(path: string, why: string): void {
    try {
      renameSync(path, `${path}.unreadable`);
      this.#warn(`cannot read ${path}; renamed it and reset the limits: ${why}`);
    } catch (error) {
      const problem = `${why}; renaming it failed: ${reason(error)}`;
      this.#warn(`cannot read ${path}; reset the limits, which are only in memory: ${problem}`);
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
      if (!this.#hasFailed) this.#warn(`cannot write ${path}: ${reason(error)}`);
      this.#hasFailed = true;
      return false;
    }
  }
}

/** Returns the digest of a key, so that the key itself is not persisted. */
export function persistedKey(text: string): string {
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

/** Parses a file. Throws if its format is unknown. */
function readLimits(text: unknown): readonly (readonly [name: string, uses: Uses])[] {
  const { version, limits } = members(text);
  if (version !== 1) throw new Error("unknown version");
  return Object.entries(members(limits)).map(([name, uses]) => [
    name,
    new Map(
      Object.entries(members(uses)).map(([key, use]) => [shortKey(key), readUse(members(use))]),
    ),
  ]);
}

/** Files of earlier versions contain whole digests. */
function shortKey(key: string): string {
  return Buffer.from(key, "base64url").toString("base64url", 0, DIGEST_BYTES);
}

function readUse({ used, since, until }: Readonly<Record<string, unknown>>): PersistedUse {
  if (typeof used === "number" && typeof since === "number" && typeof until === "number") {
    return { used, since, until };
  }
  throw new Error("the usage is not a number");
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error("not a list of limits");
  return Object.fromEntries(Object.entries(value));
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
