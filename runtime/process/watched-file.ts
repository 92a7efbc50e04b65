import { readFileSync } from "node:fs";
import { readMountedEntries } from "../contents/mounted-entries.ts";
import { fileVersion, folderVersion } from "./file-version.ts";
import { warn } from "./operator-warnings.ts";
import { startupError } from "./startup-error.ts";
import { mountFolderOf } from "./startup-values.ts";
import { UnusableFile } from "./unusable-file.ts";

/** Milliseconds between two checks of the file, and milliseconds that a change may take to settle. */
const LOOK_INTERVAL = 1000;
const SETTLE_TIME = 200;

/** How a path is read, and its version. */
interface PathReader<Value> {
  readonly version: (path: string) => string;
  /** Throws an Error that says what is wrong, without the content. */
  readonly read: (path: string) => Value;
}

/**
 * A value made from a path when the gateway starts, and again when it changes. The path is checked when the value is
 * read, so nothing has to be closed. A change counts if two checks see the same version, because the file may still be in the
 * middle of a write. If a changed file of the configuration is unusable, the old value stays. A file of a mounted Secret or
 * ConfigMap is replaced as a whole and may now belong to another tenant: if it is unusable, there is no value until it is
 * usable again.
 */
export class WatchedPath<Value> {
  readonly #path: string;
  readonly #reader: PathReader<Value>;
  readonly #isMounted: boolean;
  #state: ReadState<Value>;
  /** Version from which the value was made; empty if that failed. */
  #version = "";
  /** Version at the last check. */
  #seen = "";
  /** Version that is unusable. */
  #bad = "";
  #nextLook = 0;

  /** Throws StartupError if the path is unusable, unless it is mounted. */
  constructor(path: string, reader: PathReader<Value>) {
    this.#path = path;
    this.#reader = reader;
    this.#isMounted = mountFolderOf(path) !== undefined;
    try {
      this.#seen = reader.version(path);
      this.#state = { kind: "value", value: reader.read(path) };
      this.#version = this.#seen;
    } catch (error) {
      const problem = new UnusableFile(path, reason(error));
      if (!this.#isMounted) throw startupError(problem.message);
      this.#state = { kind: "unusable", problem };
    }
  }

  /** The current value. Throws UnusableFile if the file is mounted and unusable. */
  current(): Value {
    const state = this.#now();
    if (state.kind === "unusable") throw state.problem;
    return state.value;
  }

  /** The current value; `undefined` if the file is mounted and unusable. */
  usable(): Value | undefined {
    const state = this.#now();
    return state.kind === "unusable" ? undefined : state.value;
  }

  #now(): ReadState<Value> {
    const now = Date.now();
    if (now >= this.#nextLook) {
      this.#nextLook = now + LOOK_INTERVAL;
      this.#look(now);
    }
    return this.#state;
  }

  #look(now: number): void {
    let version = "absent";
    try {
      version = this.#reader.version(this.#path);
      if (version === this.#version || version === this.#bad) return;
      if (version !== this.#seen) {
        this.#seen = version;
        this.#nextLook = now + SETTLE_TIME;
        return;
      }
      this.#state = { kind: "value", value: this.#reader.read(this.#path) };
      this.#version = version;
      this.#bad = "";
    } catch (error) {
      // Logged once per version.
      if (this.#bad === version) return;
      this.#bad = version;
      const problem = new UnusableFile(this.#path, reason(error));
      if (this.#isMounted) {
        this.#state = { kind: "unusable", problem };
        this.#version = "";
      }
      const consequence = this.#isMounted
        ? "requests that need it are refused"
        : "the old content stays in use";
      warn(`${problem.message}; ${consequence}`);
    }
  }
}

/** A value made from a file. */
export class WatchedFile<Value> extends WatchedPath<Value> {
  /** `make` throws an Error that says what is wrong, without the content. Throws StartupError, unless the file is mounted. */
  constructor(path: string, make: (text: string) => Value) {
    super(path, { version: fileVersion, read: (from) => make(readFileSync(from, "utf8")) });
  }
}

/** A value made from all entries of a mounted Secret, by their names. */
export class WatchedFolder<Value> extends WatchedPath<Value> {
  constructor(path: string, make: (entries: ReadonlyMap<string, string>) => Value) {
    super(path, { version: folderVersion, read: (from) => make(readMountedEntries(from)) });
  }
}

/** Result of the last read. */
type ReadState<Value> =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "unusable"; readonly problem: UnusableFile };

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "no such file" : error.message;
}
