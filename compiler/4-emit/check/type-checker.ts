import path from "node:path";
import type { Project, ts } from "ts-morph";

/** The file that says how TypeScript is asked. */
export const checkerFile: string = import.meta.filename;

/** A finding of the type checker in generated code: a mistake in gwc, never in the configuration. */
export interface EmitFinding {
  readonly module: string;
  readonly line: number;
  readonly message: string;
}

/** A module's path below the output folder, and its text. */
export interface ModuleText {
  readonly path: string;
  readonly text: string;
}

/** What generated code imports as `gwc/runtime/NAME`. */
export interface RuntimeModules {
  /** The text of a module; undefined: there is none. */
  readonly sourceOf: (name: string) => string | undefined;
  /** What `declarationIn` made of this source before; undefined: nothing yet. */
  readonly knownDeclaration: (source: string) => string | undefined;
  readonly keepDeclaration: (source: string, declaration: string) => void;
}

/** Stands for the declaration of a module that has none: its source is read. */
export const SOURCE_ITSELF = "";

/**
 * Type-checks generated modules against the runtime's types, with the strictness of a hand-written project. The only
 * user of ts-morph, which is loaded when it is needed: it brings a compiler along. `unchecked`: the modules to look at;
 * the others are what they import.
 *
 * Of the runtime only declarations are read, which are a fifth of its sources. Packages are not looked at: generated code
 * never touches their types, and reading them would take longer than everything else.
 */
export async function typeFindings(
  modules: readonly ModuleText[],
  unchecked: readonly ModuleText[],
  runtime: RuntimeModules,
): Promise<readonly EmitFinding[]> {
  const { Project, ts } = await loadTypescript();
  const texts = generatedTexts(modules, new Project({ useInMemoryFileSystem: true }));
  const program = ts.createProgram({
    rootNames: [...unchecked.map(({ path: name }) => GENERATED + name), NODE_TYPES],
    options: compilerOptions(ts),
    host: compilerHost(ts, texts, runtimeResolver(ts, runtime, texts.files)),
  });
  return unchecked.flatMap(({ path: module }) => {
    const source = program.getSourceFile(GENERATED + module);
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source).filter(({ code }) => code !== NEVER_EQUAL),
    ];
    return found.map(({ start, messageText }) => ({
      module,
      line: (source?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0) + 1,
      message: ts.flattenDiagnosticMessageText(messageText, " "),
    }));
  });
}

/** What the type check reads. */
interface CheckedTexts {
  /** By their paths. */
  readonly files: Map<string, string>;
  readonly read: (name: string) => string | undefined;
}

/** `libraries`: ts-morph brings TypeScript's own declarations as texts. */
function generatedTexts(modules: readonly ModuleText[], libraries: Project): CheckedTexts {
  const files = new Map(modules.map((module) => [GENERATED + module.path, module.text]));
  files.set(NODE_TYPES, NODE);
  const own = libraries.getModuleResolutionHost();
  const read = (name: string) =>
    files.get(name) ?? (name.startsWith(`${LIBRARIES}lib.`) ? own.readFile(name) : undefined);
  return { files, read };
}

/** Finds the file that an import of a file means; what it is of the runtime joins `files`. */
function runtimeResolver(
  typescript: typeof ts,
  runtime: RuntimeModules,
  files: Map<string, string>,
): (name: string, from: string) => string | undefined {
  /** The file that stands for a runtime module: its declaration, or its source. */
  const runtimeFile = (name: string): string | undefined => {
    const source = runtime.sourceOf(name);
    if (source === undefined) return undefined;
    let declaration = runtime.knownDeclaration(source);
    if (declaration === undefined) {
      declaration = declarationIn(typescript, source);
      runtime.keepDeclaration(source, declaration);
    }
    const file = `${RUNTIME}${name}${declaration === SOURCE_ITSELF ? ".ts" : ".d.ts"}`;
    files.set(file, declaration === SOURCE_ITSELF ? source : declaration);
    return file;
  };
  const runtimeFiles = new Map<string, string | undefined>();
  return (name, from) => {
    if (!name.startsWith(".") && !name.startsWith("gwc/runtime/")) return undefined;
    const file = name.startsWith(".")
      ? path.posix.resolve(path.posix.dirname(from), name)
      : `${RUNTIME}${name.slice("gwc/runtime/".length)}.ts`;
    if (!file.startsWith(RUNTIME)) return file;
    const module = file.slice(RUNTIME.length).replace(/(\.d)?\.ts$/, "");
    if (!runtimeFiles.has(module)) runtimeFiles.set(module, runtimeFile(module));
    return runtimeFiles.get(module);
  };
}

function compilerHost(
  typescript: typeof ts,
  { read }: CheckedTexts,
  resolve: (name: string, from: string) => string | undefined,
): ts.CompilerHost {
  return {
    fileExists: (name) => read(name) !== undefined,
    readFile: read,
    getSourceFile: (name, version) => {
      const text = read(name);
      return text === undefined ? undefined : typescript.createSourceFile(name, text, version);
    },
    resolveModuleNames: (names, from) =>
      names.map((name) => {
        const resolvedFileName = resolve(name, from);
        return resolvedFileName === undefined ? undefined : { resolvedFileName };
      }),
    getDefaultLibFileName: () => `${LIBRARIES}lib.esnext.d.ts`,
    getDefaultLibLocation: () => LIBRARIES,
    getCurrentDirectory: () => "/",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    writeFile: () => {},
  };
}

/**
 * "Comparison appears to be unintentional" (TS2367): a rule may ask for what a rule before it has refused. That is how
 * it is configured, and no mistake of what was generated.
 */
const NEVER_EQUAL = 2367;

// Folders that only the checker sees: everything is checked in memory.
const GENERATED = "/generated/";
const RUNTIME = "/runtime/";
const LIBRARIES = "/node_modules/typescript/lib/";
const NODE_TYPES = "/node.d.ts";

/** What Node.js 24 adds to the language and generated code uses. */
const NODE = `interface ImportMeta { readonly main: boolean; readonly url: string }
declare const Buffer: { from(text: string, encoding: "base64"): Uint8Array };
`;

/** The declarations of runtime modules, by their sources. */
export async function declarationsOf(
  sources: readonly string[],
): Promise<readonly { readonly source: string; readonly declaration: string }[]> {
  const { ts } = await loadTypescript();
  return sources.map((source) => ({ source, declaration: declarationIn(ts, source) }));
}

/** The declaration of a module where its source alone says the types of all its exports; else `SOURCE_ITSELF`. */
function declarationIn(typescript: typeof ts, source: string): string {
  const { outputText, diagnostics = [] } = typescript.transpileDeclaration(source, {
    reportDiagnostics: true,
    compilerOptions: {
      ...compilerOptions(typescript),
      declaration: true,
      removeComments: true,
      isolatedDeclarations: true,
    },
  });
  return diagnostics.length === 0 ? outputText : SOURCE_ITSELF;
}

function compilerOptions({ ModuleKind, ScriptTarget }: typeof ts): ts.CompilerOptions {
  return {
    target: ScriptTarget.ESNext,
    lib: ["lib.esnext.d.ts"],
    module: ModuleKind.ESNext,
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  };
}

async function loadTypescript() {
  return import("ts-morph");
}
