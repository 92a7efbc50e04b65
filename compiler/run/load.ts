import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Gateway } from "../../runtime/gateway/definition.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import { moduleRoot } from "../installation.ts";
import type { LiteralSecret } from "../model/literal-secrets.ts";
import { withModulesFromFiles } from "./modules-from-files.ts";

/** A module to import: its text, or the URL of a file that has it; which may be gone when it was imported before. */
type LoadedModule =
  | Pick<PrintedModule, "path" | "text">
  | { readonly path: string; readonly url: string };

/** What was imported. */
interface Imported {
  readonly gateway: Gateway;
  /** The URLs that modules were evaluated under, by their paths. */
  readonly urls: ReadonlyMap<string, string>;
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
  return (await importModules(modules)).gateway;
}

/** The same, where the variables are set; a module whose URL was imported before is that one. */
export async function importModules(modules: readonly LoadedModule[]): Promise<Imported> {
  // A new folder each time: a module is evaluated once per path.
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "gwc-run-")));
  try {
    preparePackage(folder);
    const written = modules.filter((each) => "text" in each);
    for (const each of new Set(written.map(({ path: name }) => path.dirname(name))))
      mkdirSync(path.join(folder, each), { recursive: true });
    for (const { path: name, text } of written) writeFileSync(path.join(folder, name), text);
    const root = pathToFileURL(`${folder}${path.sep}`).href;
    const kept = new Map(
      modules.flatMap((each) => ("url" in each ? [[`${root}${each.path}`, each.url]] : [])),
    );
    const main = `${root}main.ts`;
    const loaded: unknown = await withModulesFromFiles(kept, () => import(kept.get(main) ?? main));
    // `main.ts` exports it under this type; the type check of a build proves it.
    const { gateway } = loaded as { readonly gateway: Gateway };
    const urls = modules.map(
      (each) => [each.path, "url" in each ? each.url : `${root}${each.path}`] as const,
    );
    return { gateway, urls: new Map(urls) };
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
