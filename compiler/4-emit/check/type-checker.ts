import path from "node:path";
import type { Project, ts } from "ts-morph";
import { isAsync, policyObject } from "../../policies/custom/declaration.ts";
import type { TypeScript, TypeScriptPackage } from "../../policies/custom/typescript.ts";
import { POLICY_INTERFACE, POLICY_MODULE } from "../policy-modules.ts";

/** A mistake in a module, in the form of TypeScript's diagnostics. */
interface HookMistake {
  readonly start: number;
  readonly length: number;
  readonly messageText: string;
}

/** The configuration file of the type check. */
export const checkerFile: string = import.meta.filename;

/** A finding of the type checker in generated code: a mistake in gwc, never in the configuration. */
export interface EmitFinding {
  readonly module: string;
  readonly line: number;
  readonly message: string;
  /** Characters of the module. */
  readonly range: readonly [start: number, end: number];
}

/** A module's path below the output folder, and its text. */
export interface ModuleText {
  readonly path: string;
  readonly text: string;
  /** Set for a module that a user wrote. */
  readonly user?: { readonly folder: string };
}

/** Source of the modules that generated code imports as `gwc/runtime/NAME`. */
export interface RuntimeModules {
  /** Returns the source of a module; `undefined` if it does not exist. */
  readonly sourceOf: (name: string) => string | undefined;
  /** Returns the cached result of `declarationIn` for a source; `undefined` if it was never computed. */
  readonly knownDeclaration: (source: string) => string | undefined;
  readonly keepDeclaration: (source: string, declaration: string) => void;
}

/** Declaration of a module whose source is read instead. */
export const SOURCE_ITSELF = "";

/**
 * Type-checks generated modules against the runtime's types, with the strictness of a hand-written project. The only
 * user of ts-morph, which is loaded on first use because it contains a compiler. `unchecked` names the modules to
 * check; the others are only imported by them.
 *
 * Of the runtime, only declarations are read, which are a fifth of its sources. Packages are skipped: generated code
 * never touches their types, and reading them would take longer than everything else.
 */
export async function typeFindings(
  modules: readonly ModuleText[],
  unchecked: readonly ModuleText[],
  runtime: RuntimeModules,
): Promise<readonly EmitFinding[]> {
  return findingsIn(await loadTypescript(), modules, unchecked, runtime);
}

/** Does the same with a loaded checker. */
export function findingsIn(
  { Project, ts }: TypeScriptPackage,
  modules: readonly ModuleText[],
  unchecked: readonly ModuleText[],
  runtime: RuntimeModules,
): readonly EmitFinding[] {
  const texts = generatedTexts(modules, new Project({ useInMemoryFileSystem: true }));
  const packages = packageResolver(ts, modules);
  const program = ts.createProgram({
    rootNames: [...unchecked.map(({ path: name }) => GENERATED + name), NODE_TYPES],
    options: { ...compilerOptions(ts), lib: librariesFor(modules) },
    host: compilerHost(ts, texts, runtimeResolver(ts, runtime, texts.files), packages),
  });
  return unchecked.flatMap(({ path: module, user }) => {
    const source = program.getSourceFile(GENERATED + module);
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source).filter(({ code }) => code !== NEVER_EQUAL),
      ...(user && source ? undeclaredPromises(source, program.getTypeChecker(), ts) : []),
    ];
    return found.map(({ start = 0, length = 0, messageText }) => ({
      module,
      range: [start, start + length] as const,
      line: (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1,
      message: ts.flattenDiagnosticMessageText(messageText, " "),
    }));
  });
}

/** The files of a type check. */
interface CheckedTexts {
  /** Texts by path. */
  readonly files: Map<string, string>;
  readonly read: (name: string) => string | undefined;
}

/** `libraries`: TypeScript's own declarations, which ts-morph has as strings. */
function generatedTexts(modules: readonly ModuleText[], libraries: Project): CheckedTexts {
  const files = new Map(modules.map((module) => [GENERATED + module.path, module.text]));
  files.set(NODE_TYPES, hasUserModules(modules) ? NODE + NODE_OF_USERS : NODE);
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
  /** Returns the file of a runtime module: its declaration or its source. */
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
    const own = name === POLICY_INTERFACE ? POLICY_MODULE : name;
    const isOfGateway = from.startsWith(GENERATED) || from.startsWith(RUNTIME);
    if (!isOfGateway || (!own.startsWith(".") && !own.startsWith("gwc/runtime/"))) return undefined;
    const file = own.startsWith(".")
      ? path.posix.resolve(path.posix.dirname(from), own)
      : `${RUNTIME}${own.slice("gwc/runtime/".length)}.ts`;
    if (!file.startsWith(RUNTIME)) return file;
    const module = file.slice(RUNTIME.length).replace(/(\.d)?\.ts$/, "");
    if (!runtimeFiles.has(module)) runtimeFiles.set(module, runtimeFile(module));
    return runtimeFiles.get(module);
  };
}

function compilerHost(
  typescript: typeof ts,
  texts: CheckedTexts,
  resolve: (name: string, from: string) => string | undefined,
  packages: (name: string, from: string) => string | undefined,
): ts.CompilerHost {
  const read = (name: string) => texts.read(name) ?? readDeclaration(typescript, name);
  return {
    fileExists: (name) => texts.read(name) !== undefined,
    readFile: read,
    getSourceFile: (name, version) => {
      const text = read(name);
      return text === undefined ? undefined : typescript.createSourceFile(name, text, version);
    },
    resolveModuleNames: (names, from) =>
      names.map((name) => {
        const resolvedFileName = resolve(name, from) ?? packages(name, from);
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
 * Libraries of modules of users: Web standards, and of the language what Node.js 24 has. `lib.esnext` also has what is not there
 * yet, such as `Uint8Array.prototype.toHex`.
 */
const USER_LIBRARIES = [
  ...["lib.es2025.d.ts", "lib.esnext.array.d.ts", "lib.esnext.decorators.d.ts"],
  ...["lib.esnext.disposable.d.ts", "lib.esnext.error.d.ts", "lib.esnext.intl.d.ts"],
  ...["lib.esnext.sharedmemory.d.ts", "lib.webworker.d.ts"],
];

/** Returns the libraries: those of generated code, and in addition Web standards for modules of users. */
function librariesFor(modules: readonly ModuleText[]): string[] {
  return hasUserModules(modules) ? USER_LIBRARIES : ["lib.esnext.d.ts"];
}

function hasUserModules(modules: readonly ModuleText[]): boolean {
  return modules.some(({ user }) => user !== undefined);
}

/**
 * Finds the declarations of packages that modules of users import, in the folders of these modules.
 */
function packageResolver(
  typescript: typeof ts,
  modules: readonly ModuleText[],
): (name: string, from: string) => string | undefined {
  const folders = new Map(
    modules.map(({ path: module, user }) => [GENERATED + module, user?.folder]),
  );
  return (name, from) => {
    const folder = from.startsWith(GENERATED) ? folders.get(from) : path.dirname(from);
    if (folder === undefined || from.startsWith(LIBRARIES) || name.startsWith(GENERATED))
      return undefined;
    const { resolvedModule } = typescript.resolveModuleName(
      name,
      path.join(folder, "importer.ts"),
      { moduleResolution: typescript.ModuleResolutionKind.Bundler },
      typescript.sys,
    );
    return resolvedModule?.resolvedFileName;
  };
}

/** Reads a declaration of a package from the disk. */
function readDeclaration(typescript: typeof ts, name: string): string | undefined {
  return name.includes("/node_modules/") && !name.startsWith(LIBRARIES)
    ? typescript.sys.readFile(name)
    : undefined;
}

/**
 * "Comparison appears to be unintentional" (TS2367): a rule may test for something that an earlier rule has refused.
 * This comes from the configuration and is no mistake in the generated code.
 */
const NEVER_EQUAL = 2367;

// Folders that exist only in memory, for the checker.
const GENERATED = "/generated/";
const RUNTIME = "/runtime/";
const LIBRARIES = "/node_modules/typescript/lib/";
const NODE_TYPES = "/node.d.ts";

/** Features of Node.js 24 that generated code uses and the library files lack. */
const NODE = `interface ImportMeta { readonly main: boolean; readonly url: string }
declare const Buffer: { from(text: string, encoding: "base64"): Uint8Array };
`;

/** The same for modules of users: modules of Node.js are not typed. */
const NODE_OF_USERS = `declare module "node:*";
declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
`;

/** Returns the declarations of runtime modules by their sources. */
export async function declarationsOf(
  sources: readonly string[],
): Promise<readonly { readonly source: string; readonly declaration: string }[]> {
  const { ts } = await loadTypescript();
  return sources.map((source) => ({ source, declaration: declarationIn(ts, source) }));
}

/**
 * Returns the declaration of a module if its source alone states the types of all its exports; otherwise
 * `SOURCE_ITSELF`.
 */
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

/**
 * Finds hooks that can return a promise without being declared `async`: generated code waits for async hooks only, so such a
 * promise fails the request.
 */
function undeclaredPromises(
  source: ts.SourceFile,
  checker: ts.TypeChecker,
  typescript: TypeScript,
): readonly HookMistake[] {
  const properties = policyObject(source, typescript)?.properties ?? [];
  return properties.flatMap((property) => {
    const { name } = property;
    const made = typescript.isPropertyAssignment(property) ? property.initializer : property;
    if (name === undefined || isAsync(property, typescript)) return [];
    const returned = checker
      .getTypeAtLocation(made)
      .getCallSignatures()
      .map((each) => each.getReturnType());
    if (!returned.some((type) => hasPromise(type, checker))) return [];
    const messageText = `the hook "${name.getText(source)}" returns a promise: declare it "async" here, so that the gateway waits for it`;
    return [{ start: name.getStart(source), length: name.getWidth(source), messageText }];
  });
}

function hasPromise(type: ts.Type, checker: ts.TypeChecker): boolean {
  const parts = type.isUnion() ? type.types : [type];
  return parts.some((part) => checker.getAwaitedType(part) !== part);
}
