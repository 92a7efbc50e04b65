import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { moduleRoot, runtimeFolder } from "../../installation.ts";
import { CachedEntries, digestOf } from "./cached-entries.ts";
import { declarationsOf, type RuntimeModules, SOURCE_ITSELF } from "./type-checker.ts";

/** File of the published package with the declarations of its runtime; a repository has none. */
export const PACKAGED_DECLARATIONS = "declarations.json";

/** Maximum number of cached declarations: those of this state of the runtime and of a few branches. */
const MAX_DECLARATIONS = 3000;

/** Reads the source of each runtime module, by name: `http/exchange`. */
export function runtimeSources(): ReadonlyMap<string, string> {
  const files = globSync("**/*.ts", { cwd: runtimeFolder }).sort();
  return new Map(
    files.map((file) => [
      file.split(path.sep).join("/").replace(/\.ts$/, ""),
      readFileSync(path.join(runtimeFolder, file), "utf8"),
    ]),
  );
}

/** Returns the runtime with declarations that are cached in a file; `save` writes it. */
export function cachedRuntime(
  sources: ReadonlyMap<string, string>,
  file: string,
): RuntimeModules & { readonly save: () => void } {
  const typescript = typescriptVersion();
  const packaged = new CachedEntries(
    path.join(moduleRoot, PACKAGED_DECLARATIONS),
    MAX_DECLARATIONS,
  );
  const cached = new CachedEntries(file, MAX_DECLARATIONS);
  return {
    sourceOf: (name) => sources.get(name),
    knownDeclaration: (source) => {
      const key = digestOf(typescript, source);
      return packaged.get(key) ?? cached.get(key);
    },
    keepDeclaration: (source, declaration) => cached.set(digestOf(typescript, source), declaration),
    save: () => cached.save(),
  };
}

/** Writes the declarations that a published package contains, so that no build of its users has to make them. */
export async function packDeclarations(file: string): Promise<void> {
  const cached = new CachedEntries(file, MAX_DECLARATIONS);
  const typescript = typescriptVersion();
  const sources = [...runtimeSources()].filter(([name]) => !name.endsWith(".d"));
  for (const { source, declaration } of await declarationsOf(sources.map(([, text]) => text)))
    cached.set(digestOf(typescript, source), declaration);
  cached.save();
}

/** Returns the runtime without declarations: making them takes longer than one check that uses them. */
export function plainRuntime(): RuntimeModules {
  return {
    sourceOf: (name) => {
      try {
        return readFileSync(path.join(runtimeFolder, `${name}.ts`), "utf8");
      } catch {
        return undefined;
      }
    },
    knownDeclaration: () => SOURCE_ITSELF,
    keepDeclaration: () => {},
  };
}

/** Returns the TypeScript version of ts-morph without loading it. */
export function typescriptVersion(): string {
  const morph = createRequire(createRequire(import.meta.url).resolve("ts-morph"));
  return readFileSync(morph.resolve("@ts-morph/common/package.json"), "utf8");
}
