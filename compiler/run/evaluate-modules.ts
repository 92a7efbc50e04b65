import { SourceMap, type SourceMapPayload, stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { Script } from "node:vm";
import { namesFetch, POLICY_INTERFACE, POLICY_MODULE } from "../4-emit/policy-modules.ts";
import { POLICY_FOLDER } from "../policies/custom/read-policy.ts";
import { typescript } from "../policies/custom/typescript.ts";

/** A module, as it is evaluated. */
export interface RunnableModule {
  /** An expression of a function, line for line what the text says. */
  readonly code: string;
  /** Its imports, in the order of its text. */
  readonly imported: readonly string[];
}

/** The same with its path. */
export interface GeneratedModule extends RunnableModule {
  readonly path: string;
}

/** Milliseconds that evaluating takes of one turn of the event loop: requests are served in between. */
const MAX_TURN = 5;

/** The exports of a module, by name. */
export type Exports = Readonly<Record<string, unknown>>;

/** Modules of a gateway that were evaluated, by their paths. */
export type Evaluated = ReadonlyMap<string, Exports>;

/**
 * Evaluates generated modules in this process, each once and after what it imports. `known` are evaluated already.
 *
 * Node.js never frees a module that it imported: each edit would stay in memory, with all that its settings hold. These
 * modules are functions instead, which are freed with the last request that they serve. Only the modules of the runtime are
 * imported, and all gateways of a process share them.
 */
export async function evaluateModules(
  modules: readonly GeneratedModule[],
  known: Evaluated = new Map(),
): Promise<Evaluated> {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const evaluated = new Map<string, Exports>(known);
  const evaluate = async (name: string): Promise<Exports> => {
    const before = evaluated.get(name);
    if (before !== undefined) return before;
    const module = byPath.get(name);
    if (module === undefined) throw new Error(`the gateway has no module ${name}`);
    const imported = new Map<string, Exports>();
    for (const specifier of module.imported) {
      const own = path.posix.join(path.posix.dirname(name), specifier);
      imported.set(specifier, await (isOwn(specifier) ? evaluate(own) : import(specifier)));
    }
    if (name.startsWith(POLICY_FOLDER)) await protectFrom(module);
    const start: unknown = new Script(module.code, { filename: name }).runInThisContext();
    // `runnable` made it one.
    const run = () => (start as ModuleFunction)((specifier) => imported.get(specifier));
    const exports = name.startsWith(POLICY_FOLDER) ? await loadedPolicy(run) : run();
    evaluated.set(name, exports);
    return exports;
  };
  let turnAt = performance.now();
  for (const { path: name } of modules) {
    await evaluate(name);
    if (performance.now() - turnAt < MAX_TURN) continue;
    await new Promise((resolve) => setImmediate(resolve));
    turnAt = performance.now();
  }
  return evaluated;
}

/** Protects the language from a module of a user, which runs in this process from now on. */
async function protectFrom({ code }: GeneratedModule): Promise<void> {
  const { protectLanguage } = await import("gwc/runtime/policies/custom/protect-language");
  protectLanguage({ usesFetch: namesFetch(code), withCompiler: true });
}

/** Evaluates a module of a user. Throws a StartupError with its place if it throws. */
async function loadedPolicy(run: () => Exports): Promise<Exports> {
  try {
    return run();
  } catch (error) {
    const { loadErrorText } = await import("gwc/runtime/policies/custom/policy-errors");
    const { StartupError } = await import("gwc/runtime/process/startup-error");
    const text = loadErrorText(error);
    throw text === undefined ? error : new StartupError(text);
  }
}

/** A module as a function from what it imports to what it exports. */
type ModuleFunction = (imported: (specifier: string) => Exports | undefined) => Exports;

/** First and last lines of printed modules (templates/code/print.ts). */
const IMPORT = /^import (?:(?:\{([^}]*)\}|([\w$]+)) from )?"([^"]+)";/gm;
const EXPORT = /^export (?=(?:async function|function|const) ([\w$]+))/gm;
const START = /^if \(import\.meta\.main\) .*\n/m;

/** Makes a printed module one that `evaluateModules` takes. */
export function runnable(text: string): RunnableModule {
  const imported: string[] = [];
  const exported: string[] = [];
  const body = withoutTypes(text.replace(START, ""))
    .replace(
      IMPORT,
      (_, names: string | undefined, whole: string | undefined, specifier: string) => {
        imported.push(specifier);
        if (whole !== undefined)
          return `const { default: ${whole} } = $imported(${JSON.stringify(specifier)});`;
        if (names === undefined) return "";
        return `const {${names.replaceAll(" as ", ": ")}} = $imported(${JSON.stringify(specifier)});`;
      },
    )
    .replace(EXPORT, (_, name: string) => {
      exported.push(name);
      return "";
    });
  const code = `(function ($imported) {"use strict";${body}\nreturn { ${exported.join(", ")} };\n})`;
  return { code, imported };
}

/**
 * Makes a module that a user wrote one that `evaluateModules` takes. `urlOf` returns the URL of a package that it imports;
 * `undefined` for other imports.
 */
export function runnableUserModule(
  text: string,
  urlOf: (specifier: string) => string | undefined = interfaceUrl,
): RunnableModule {
  const { ts } = typescript();
  const imports = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  const { outputText, sourceMapText = "" } = ts.transpileModule(text, {
    compilerOptions: {
      ...{ module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ESNext },
      ...{ removeComments: true, sourceMap: true },
    },
  });
  const code = alignedLines(outputText.replace(/\/\/# sourceMappingURL=.*\n?$/, ""), sourceMapText);
  const imported = imports.map((specifier) => urlOf(specifier) ?? specifier);
  const urls = Object.fromEntries(imports.map((specifier, index) => [specifier, imported[index]]));
  const body = `const require = (name) => $imported(${JSON.stringify(urls)}[name] ?? name);`;
  return {
    // Of an arrow function, `this` would be the global object, which policies cannot name.
    code: `(function ($imported) {"use strict"; const exports = {}; ${body} ${code}\nreturn exports;\n})`,
    imported,
  };
}

/** Returns the module of the interface of policies; `undefined` for other imports. */
function interfaceUrl(specifier: string): string | undefined {
  return specifier === POLICY_INTERFACE ? POLICY_MODULE : undefined;
}

/** Node.js warns of the function the first time; it does the same to every module of TypeScript without a word. */
function withoutTypes(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function isOwn(specifier: string): boolean {
  return specifier.startsWith("./") || specifier.startsWith("../");
}

/**
 * Moves the lines of transpiled code to the lines of its source, so that stack traces name these. Lines move down only: code that
 * is longer than its source stays below its place until blank lines, comments or types of the source follow.
 */
function alignedLines(code: string, map: string): string {
  // TypeScript writes version 3, which is all that Node.js reads.
  const payload: SourceMapPayload = JSON.parse(map);
  const lineOf = linesOfSource(new SourceMap(payload));
  const aligned: string[] = [];
  for (const [index, line] of code.split("\n").entries()) {
    const target = lineOf(index, Math.max(0, line.search(/\S/)));
    const isFirst = aligned.length === 1 && aligned[0]?.endsWith(";") === true;
    if (isFirst && (target === undefined || target === 0)) {
      // TypeScript adds this at the start; it has no place in the source.
      aligned[0] += line;
      continue;
    }
    while (target !== undefined && aligned.length < target) aligned.push("");
    aligned.push(line);
  }
  return aligned.join("\n");
}

/** Returns the line of the source, from 0, of a position that a mapping starts at; `undefined` for others. */
function linesOfSource(map: SourceMap): (line: number, column: number) => number | undefined {
  return (line, column) => {
    const found = map.findEntry(line, column);
    const isExact =
      "originalLine" in found && found.generatedLine === line && found.generatedColumn === column;
    return isExact ? found.originalLine : undefined;
  };
}
