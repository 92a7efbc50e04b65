import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Gateway } from "../../runtime/gateway/definition.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import { moduleRoot } from "../installation.ts";
import type { LiteralSecret } from "../model/literal-secrets.ts";
import { withModulesFromFiles } from "./modules-from-files.ts";

/** A module to import. */
interface LoadedModule extends Pick<PrintedModule, "path" | "text"> {
  /** A file that has its text, and is evaluated once in a process. */
  readonly file?: string;
}

/**
 * Imports generated modules into this process: exactly the text that a build would write. They find `gwc/runtime/...`
 * as any project that depends on gwc does, so that every definition of a process shares one runtime. Credentials that the
 * configuration writes out are variables of this process from then on. Throws what the modules throw (StartupError for a
 * variable that is not set).
 */
export async function loadGateway({
  modules,
  literals,
}: {
  readonly modules: readonly LoadedModule[];
  readonly literals: readonly LiteralSecret[];
}): Promise<Gateway> {
  for (const { variable, value } of literals) process.env[variable] = value;
  // A new folder each time: a module is evaluated once per path.
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "gwc-run-")));
  try {
    preparePackage(folder);
    for (const each of new Set(modules.map(({ path: name }) => path.dirname(name))))
      mkdirSync(path.join(folder, each), { recursive: true });
    const kept = new Map<string, string>();
    for (const { path: name, text, file } of modules) {
      const own = path.join(folder, name);
      if (file === undefined) writeFileSync(own, text);
      else kept.set(pathToFileURL(own).href, pathToFileURL(file).href);
    }
    const main = pathToFileURL(path.join(folder, "main.ts")).href;
    const loaded: unknown = await withModulesFromFiles(kept, () => import(kept.get(main) ?? main));
    // `main.ts` exports it under this type; the type check of a build proves it.
    return (loaded as { readonly gateway: Gateway }).gateway;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a folder one whose modules find those of the runtime. */
export function preparePackage(folder: string): void {
  const packages = path.join(folder, "node_modules");
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(packages);
  symlinkSync(moduleRoot, path.join(packages, "gwc"), "dir");
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
}
