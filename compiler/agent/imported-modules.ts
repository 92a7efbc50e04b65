import { pathToFileURL } from "node:url";
import type { Gateway } from "../../runtime/gateway/definition.ts";
import { importModules } from "../run/load.ts";
import { storedText } from "./agent-store.ts";
import type { OriginModule } from "./module-origins.ts";

/**
 * Imports generations of a gateway into this thread. What was imported is never freed, so a module is the one of before where
 * what it follows from is the same.
 */
export class ImportedModules {
  /** The URLs of modules that were evaluated, by what they follow from. */
  readonly #evaluated = new Map<string, string>();
  /** Files that were imported, or that an import has failed with: a thread remembers both for good. */
  readonly #used: Set<string> = new Set();
  /** Text that was imported, in bytes. */
  bytes = 0;

  /** Imports a generation. Throws what its modules throw, and when one is not what its digest says. */
  async load(modules: readonly OriginModule[]): Promise<Gateway> {
    const asked = modules.map(({ path: name, origin, isAlone, file, sha256, bytes }) => {
      const url = this.#evaluated.get(origin);
      if (url !== undefined) return { path: name, url };
      this.bytes += bytes;
      const text = storedText(file, name, sha256);
      // What a file of the store imports is not beside it.
      if (this.#used.has(file) || !isAlone) return { path: name, text };
      this.#used.add(file);
      return { path: name, url: pathToFileURL(file).href };
    });
    const { gateway, urls } = await importModules(asked);
    for (const { path: name, origin } of modules) {
      const url = urls.get(name);
      if (url !== undefined) this.#evaluated.set(origin, url);
    }
    return gateway;
  }
}
