import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { PrintedModule } from "../../templates/code/print.ts";
import { clientPorts } from "../../templates/modules/client-ports.ts";
import { readDocuments } from "../1-parse/documents.ts";
import { emitModules } from "../4-emit/modules.ts";
import { POLICY_INTERFACE, POLICY_MODULE } from "../4-emit/policy-modules.ts";
import { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { Finding } from "../diagnostics/report/findings.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import { type CheckedInput, checkInput } from "../inspect/check-input.ts";
import type { Program } from "../ir/program.ts";
import { allRoutes } from "../ir/routes.ts";
import type { LiteralSecret } from "../model/literal-secrets.ts";
import { type RunnableModule, runnable, runnableUserModule } from "./evaluate-modules.ts";

/** A configuration at one moment, compiled. */
export interface Candidate {
  readonly findings: readonly Finding[];
  /** The files it was made of. */
  readonly dependencies: readonly string[];
  /** There unless the configuration is refused. */
  readonly compiled: Compiled | undefined;
}

/** A program that may be served, and its code. */
export interface Compiled {
  readonly program: Program;
  /** Credentials that it writes out. */
  readonly literals: readonly LiteralSecret[];
  /** The files that it was made of; without their documents, which `sourceFiles` reads again. */
  readonly texts: readonly Pick<SourceFile, "name" | "path" | "text">[];
  /** `main.ts`, then a module for each route, in the order of the program. */
  readonly modules: readonly CompiledModule[];
  /** The path of each route's module, by the route's id. */
  readonly routeModules: ReadonlyMap<string, string>;
}

/** A module as text, and as what is evaluated. */
export type CompiledModule = PrintedModule & RunnableModule;

/** The files of a compiled configuration with their documents, for finding the place of a value. */
export function sourceFiles({ texts }: Pick<Compiled, "texts">): readonly SourceFile[] {
  return texts.map(({ name, path, text }) => readDocuments(name, path, text, new Diagnostics()));
}

/** Compiles a configuration for serving it from this process: neither type-checked nor bundled. */
export function compileCandidate(
  file: string,
  host: Host,
  isStrict: boolean,
  gateway?: string,
): Candidate {
  const checkedInput = checkInput([file], host, isStrict, gateway, { isSingle: true });
  const { program, findings, dependencies } = checkedInput;
  return { findings, dependencies, compiled: program && compile(program, checkedInput) };
}

function compile(
  program: Program,
  { files, literals }: Pick<CheckedInput, "files" | "literals">,
): Compiled {
  const modules = emitModules(program, "path", files).map((module) => ({
    ...module,
    ...(module.user === undefined
      ? runnable(module.text)
      : runnableUserModule(module.text, packageUrls(module.user.folder))),
  }));
  const paths = allRoutes(program).map(
    ({ route: { id } }, index) => [id, modules[index + 1]?.path ?? ""] as const,
  );
  const texts = files.map(({ name, path, text }) => ({ name, path, text }));
  return { program, literals, texts, modules, routeModules: new Map(paths) };
}

/** Returns the URLs of what modules in a folder import: of their interface, and of packages as Node.js finds them. */
function packageUrls(folder: string): (specifier: string) => string | undefined {
  const { resolve } = createRequire(path.join(folder, "importer.js"));
  return (specifier) => {
    if (specifier === POLICY_INTERFACE) return POLICY_MODULE;
    if (specifier.startsWith(".") || isBuiltin(specifier)) return undefined;
    return pathToFileURL(resolve(specifier)).href;
  };
}

/** Returns the differences between two compiled configurations for the log; empty if they behave the same. */
export function changedParts(before: Compiled, after: Compiled): readonly string[] {
  const [old, now] = [routeCode(before), routeCode(after)];
  const found = [
    ...[...now.keys()].filter((route) => !old.has(route)).map((route) => `route ${route} added`),
    ...[...old.keys()].filter((route) => !now.has(route)).map((route) => `route ${route} removed`),
    ...[...now]
      .filter(([route, text]) => old.has(route) && old.get(route) !== text)
      .map(([route]) => `route ${route} changed`),
  ];
  const [oldPorts, nowPorts] = [ports(before), ports(after)];
  found.push(
    ...nowPorts.filter((port) => !oldPorts.includes(port)).map((port) => `port ${port} opened`),
    ...oldPorts.filter((port) => !nowPorts.includes(port)).map((port) => `port ${port} closed`),
  );
  if (found.length === 0 && mainCode(before) !== mainCode(after))
    found.push("routing or settings changed");
  if (secretsOf(before) !== secretsOf(after)) found.push("credentials changed");
  return found;
}

/** The code of each route, by the route's name. */
function routeCode({ program, modules }: Compiled): ReadonlyMap<string, string> {
  return new Map(
    allRoutes(program).map(({ route: { name } }, index) => [
      name,
      withoutComments(modules[index + 1]?.text ?? ""),
    ]),
  );
}

/** Modules that belong to no route: the table, and the steps before it. */
function mainCode({ program, modules }: Compiled): string {
  const own = [...modules.slice(0, 1), ...modules.slice(1 + allRoutes(program).length)];
  return own.map(({ text }) => withoutComments(text)).join("");
}

function secretsOf({ literals }: Compiled): string {
  return JSON.stringify(literals.map(({ variable, value }) => [variable, value]));
}

function ports({ program }: Compiled): readonly number[] {
  return clientPorts(program);
}

/** Comments name places in the configuration, which shift without changing what is served. */
function withoutComments(text: string): string {
  return text.replace(/^\s*\/\/.*\n/gm, "");
}
