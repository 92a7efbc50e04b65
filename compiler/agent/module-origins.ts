import { createHash } from "node:crypto";
import path from "node:path";
import type { StoredModule } from "./agent-store.ts";

/** A module, and whether another one is the same. */
export interface OriginModule {
  readonly path: string;
  readonly sha256: string;
  /** Where its text is kept. */
  readonly file: string;
  /** All that it follows from: its text, what it imports of its gateway, and the variables that it reads. */
  readonly origin: string;
}

/** Says what the modules of generations follow from. */
export class ModuleOrigins {
  /** What modules import of their gateway, as they write it, by their digests. */
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
      // Two modules of one text are two: each has what it counts for itself.
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
