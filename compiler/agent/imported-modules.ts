import { createHash } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Gateway } from "../../runtime/gateway/definition.ts";
import { importModules } from "../run/load.ts";
import type { StoredModule } from "./agent-store.ts";

/**
 * Imports generations of a gateway into this process. What was imported is never freed, so a module is the one of before
 * where its text, what it imports of its gateway, and the variables that it reads are the same.
 */
export class ImportedModules {
  /** The URLs of modules that were evaluated, by what they follow from. */
  readonly #evaluated = new Map<string, string>();
  /** Files that were imported, or that an import has failed with: a process remembers both for good. */
  readonly #used: Set<string> = new Set();
  /** What modules import of their gateway, as they write it, by their digests. */
  readonly #imports = new Map<string, readonly string[]>();
  /** Text that was imported, in bytes. */
  bytes = 0;

  /** Imports a generation. Throws what its modules throw. */
  async load(
    modules: readonly StoredModule[],
    variables: Readonly<Record<string, string>>,
  ): Promise<Gateway> {
    const origins = this.#originsOf(modules, variables);
    const asked = modules.map(({ path: name, text, sha256, file }) => {
      const url = this.#evaluated.get(origins.get(name) ?? "");
      if (url !== undefined) return { path: name, text, url };
      this.bytes += Buffer.byteLength(text);
      // What a file of the store imports is not beside it.
      if (this.#used.has(file) || this.#imports.get(sha256)?.length !== 0)
        return { path: name, text };
      this.#used.add(file);
      return { path: name, text, url: pathToFileURL(file).href };
    });
    const { gateway, urls } = await importModules(asked);
    for (const [name, url] of urls) this.#evaluated.set(origins.get(name) ?? name, url);
    return gateway;
  }

  /** All that each module follows from, by its path. */
  #originsOf(
    modules: readonly StoredModule[],
    variables: Readonly<Record<string, string>>,
  ): ReadonlyMap<string, string> {
    for (const { sha256, text } of modules)
      if (!this.#imports.has(sha256)) this.#imports.set(sha256, importsOf(text));
    const byPath = new Map(modules.map((module) => [module.path, module]));
    const origins = new Map<string, string>();
    const originOf = (name: string): string => {
      const module = byPath.get(name);
      if (module === undefined) return "";
      const known = origins.get(name);
      if (known !== undefined) return known;
      const { sha256, text } = module;
      const imported = (this.#imports.get(sha256) ?? []).map((each) =>
        originOf(path.posix.join(path.posix.dirname(name), each)),
      );
      const values = valuesIn(text, variables);
      // Two modules of one text are two: each has what it counts for itself.
      const own = `${name} ${sha256} ${values}`;
      const origin = imported.length === 0 ? own : digestOf([own, ...imported]);
      origins.set(name, origin);
      return origin;
    };
    for (const { path: name } of modules) originOf(name);
    return origins;
  }
}

/** The modules of its gateway that a module imports. */
function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:from|import) "(\.{1,2}\/[^"]+)"/g)].map(([, each = ""]) => each);
}

function valuesIn(text: string, variables: Readonly<Record<string, string>>): string {
  const named = Object.entries(variables).filter(([name]) => text.includes(JSON.stringify(name)));
  return named.length === 0 ? "" : digestOf(named);
}

function digestOf(value: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64");
}
