import { createHash } from "node:crypto";
import path from "node:path";
import type { StoredModule } from "./agent-store.ts";

/** A module and the inputs that determine whether another one is equal. */
export interface OriginModule {
  readonly path: string;
  readonly sha256: string;
  /** Path of its file. */
  readonly file: string;
  /** All its inputs: its text, its imports within the gateway, and the variables that it reads. */
  readonly origin: string;
}

/** Computes the inputs of modules of generations. */
export class ModuleOrigins {
  /** Imports of modules within their gateway, as written, by digest. */
  readonly #imports = new Map<string, readonly string[]>();

  of(
    modules: readonly StoredModule[],
    variables: Readonly<Record<string, string>>,
  ): readonly OriginModule[] {
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
      const imported = this.#importsOf(sha256).map((each) =>
        originOf(path.posix.join(path.posix.dirname(name), each)),
      );
      const values = valuesIn(text, variables);
      // Two modules with the same text are different: each has its own counters.
      const own = `${name} ${sha256} ${values}`;
      const origin = imported.length === 0 ? own : digestOf([own, ...imported]);
      origins.set(name, origin);
      return origin;
    };
    return modules.map(({ path: name, sha256, file }) => ({
      path: name,
      sha256,
      file,
      origin: originOf(name),
    }));
  }

  #importsOf(sha256: string): readonly string[] {
    return this.#imports.get(sha256) ?? [];
  }
}

/** Returns the modules of the gateway that a module imports. */
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
