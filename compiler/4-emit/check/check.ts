import { readFileSync } from "node:fs";
import path from "node:path";
import type { PrintedModule } from "../../../templates/code/print.ts";
import { CachedEntries, digestOf } from "./cached-entries.ts";
import {
  cachedRuntime,
  plainRuntime,
  runtimeSources,
  typescriptVersion,
} from "./runtime-modules.ts";
import { checkerFile, type EmitFinding, typeFindings } from "./type-checker.ts";

/** Maximum number of cached verdicts: enough for a gateway of 10,000 routes or for many small ones. */
const KEPT_MODULES = 20_000;

/**
 * Type-checks generated modules. Correct ones are cached in the folder `cache`: a module is checked again if it, a
 * module that it imports, the runtime or the checker has changed. Mistakes are not cached. Without a folder,
 * everything is checked.
 */
export async function checkModules(
  modules: readonly PrintedModule[],
  cache: string | undefined,
): Promise<readonly EmitFinding[]> {
  if (cache === undefined) return typeFindings(modules, modules, plainRuntime());
  const sources = runtimeSources();
  const keys = moduleKeys(modules, digestOf(checkerDigest(), ...[...sources].flat()));
  const right = new CachedEntries(path.join(cache, "checked-modules.json"), KEPT_MODULES);
  const unchecked = [...keys].filter(([, key]) => right.get(key) === undefined);
  if (unchecked.length === 0) return [];
  const runtime = cachedRuntime(sources, path.join(cache, "declarations.json"));
  const findings = await typeFindings(
    modules,
    unchecked.map(([module]) => module),
    runtime,
  );
  runtime.save();
  const wrong = new Set(findings.map(({ module }) => module));
  for (const [module, key] of unchecked) if (!wrong.has(module.path)) right.set(key, "");
  right.save();
  return findings;
}

/**
 * Returns what a module's verdict depends on besides the runtime: its text and those of all modules that it imports,
 * directly or not.
 */
function moduleKeys(
  modules: readonly PrintedModule[],
  context: string,
): ReadonlyMap<PrintedModule, string> {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const reached = (module: PrintedModule, found: Set<PrintedModule>): Set<PrintedModule> => {
    if (found.has(module)) return found;
    found.add(module);
    for (const name of module.imports) {
      const imported = byPath.get(path.posix.join(path.posix.dirname(module.path), name));
      if (imported !== undefined) reached(imported, found);
    }
    return found;
  };
  return new Map(
    modules.map((module) => {
      const texts = [...reached(module, new Set())].flatMap((each) => [each.path, each.text]);
      return [module, digestOf(context, ...texts)];
    }),
  );
}

/** Returns the version of the checker: that of TypeScript and that of its options. */
function checkerDigest(): string {
  return digestOf(typescriptVersion(), readFileSync(checkerFile, "utf8"));
}
