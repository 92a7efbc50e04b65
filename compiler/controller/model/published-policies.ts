import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { POWERS_FILE } from "../../policies/custom/published-powers.ts";
import { POLICY_FOLDER } from "../../policies/custom/read-policy.ts";

/** Milliseconds between two looks at the folder. */
const LOOK_INTERVAL = 5_000;

/** Modules of custom policies that operators have published in a folder, such as a mounted ConfigMap. */
export class PublishedPolicies {
  /** Modules by the paths under which they are compiled. */
  files: Readonly<Record<string, string>> = {};
  readonly #folder: string;
  readonly #changed: () => void;
  readonly #looking: NodeJS.Timeout;

  /** Reads the folder. Throws an Error if it cannot be read. `changed` is called after it has changed. */
  constructor(folder: string, changed: () => void) {
    this.#folder = folder;
    this.#changed = changed;
    this.files = read(folder);
    this.#looking = setInterval(() => this.#look(), LOOK_INTERVAL);
  }

  close(): void {
    clearInterval(this.#looking);
  }

  #look(): void {
    let found: Readonly<Record<string, string>>;
    try {
      found = read(this.#folder);
    } catch {
      // In the middle of an exchange of the volume: the next look sees the result.
      return;
    }
    if (JSON.stringify(found) === JSON.stringify(this.files)) return;
    this.files = found;
    this.#changed();
  }
}

function read(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter(
    (name) => /^[\w-]+\.ts$/.test(name) || name === POWERS_FILE,
  );
  return Object.fromEntries(
    names
      .toSorted()
      .map((name) => [POLICY_FOLDER + name, readFileSync(path.join(folder, name), "utf8")]),
  );
}
