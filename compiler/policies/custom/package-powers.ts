import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import type { BuildFailure, buildSync, Metafile } from "esbuild";
import type { ts } from "ts-morph";
import type { ModuleMistake } from "./declaration.ts";
import { freeNames } from "./free-names.ts";
import { GLOBALS } from "./powers.ts";
import type { TypeScript } from "./typescript.ts";

/**
 * Finds what packages that a module imports reach outside of the language, and the configuration does not allow: modules of
 * Node.js, the network, the environment. `folder`: that of the module, in which its packages are found.
 */
export function packageMistakes(
  source: ts.SourceFile,
  folder: string,
  allow: ReadonlySet<string>,
  typescript: TypeScript,
): readonly ModuleMistake[] {
  return source.statements.flatMap((statement): readonly ModuleMistake[] => {
    if (!typescript.isImportDeclaration(statement) && !typescript.isExportDeclaration(statement))
      return [];
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !typescript.isStringLiteral(moduleSpecifier)) return [];
    const { text: name } = moduleSpecifier;
    if (!isPackage(name)) return [];
    const range = [moduleSpecifier.getStart(source), moduleSpecifier.getEnd()] as const;
    const report = (problem: string, hint?: string) => ({
      ...{ message: `the package "${name}" ${problem}`, hint, range },
    });
    const found = inputsOf(codeOf(statement, source, typescript), folder);
    if (found === `Could not resolve "${name}"`)
      return [
        report("is not installed", `run npm install ${name} in the folder of the configuration`),
      ];
    if (typeof found === "string") return [report(`cannot be bundled: ${found}`)];
    const outside = Object.keys(found).find((input) => !isOfPackage(input));
    if (outside !== undefined)
      return [
        report(
          `contains the file ${outside}, which is not in node_modules: gateway.cdx.json could not name it`,
          'move the code to the folder "policies", or install the package from an archive (npm pack)',
        ),
      ];
    const powers = powersOf(found, folder, typescript);
    return [...powers]
      .filter(([power]) => !allow.has(power))
      .map(([power, { use, file }]) => report(`uses ${use} (${file}): add ${power} to "allow"`));
  });
}

/** Whether an import is a package. */
function isPackage(name: string): boolean {
  return !name.startsWith(".") && !isBuiltin(name) && !/^gwc(?:\/|$)/.test(name);
}

/** Whether a file is in an installed package. Others are modules that esbuild itself adds. */
function isOfPackage(input: string): boolean {
  return input.startsWith("<") || /(?:^|\/)node_modules\//.test(input);
}

/** Returns code that uses all that a statement imports. */
function codeOf(
  statement: ts.ImportDeclaration | ts.ExportDeclaration,
  source: ts.SourceFile,
  typescript: TypeScript,
): string {
  const text = statement.getText(source);
  if (typescript.isExportDeclaration(statement)) return text;
  const clause = statement.importClause;
  if (clause === undefined || clause.isTypeOnly) return text;
  const { name, namedBindings } = clause;
  const names = [
    ...(name === undefined ? [] : [name.text]),
    ...(namedBindings === undefined
      ? []
      : typescript.isNamespaceImport(namedBindings)
        ? [namedBindings.name.text]
        : namedBindings.elements.filter((each) => !each.isTypeOnly).map((each) => each.name.text)),
  ];
  return `${text}\nglobalThis.used = [${names.join(", ")}];`;
}

/** Returns the files that become part of a bundle; a message if that is not possible. */
function inputsOf(contents: string, folder: string): Metafile["inputs"] | string {
  // esbuild is loaded on first use: only policies with packages need it while they are checked.
  const esbuild: { readonly buildSync: typeof buildSync } = createRequire(import.meta.url)(
    "esbuild",
  );
  try {
    const { metafile } = esbuild.buildSync({
      stdin: { contents, resolveDir: folder, loader: "ts" },
      ...{ bundle: true, write: false, metafile: true, logLevel: "silent" },
      ...{ format: "esm", platform: "node", target: "node24", absWorkingDir: folder },
    });
    const [output] = Object.values(metafile.outputs);
    const used = Object.entries(metafile.inputs).filter(
      ([input]) => (output?.inputs[input]?.bytesInOutput ?? 0) > 0,
    );
    return Object.fromEntries(used);
  } catch (error) {
    return isFailure(error) ? (error.errors[0]?.text ?? error.message) : String(error);
  }
}

function isFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

/** A use of something outside of the language, and the file that contains it. */
interface PowerUse {
  readonly use: string;
  readonly file: string;
}

/** Returns the first use of each power in files. */
function powersOf(
  inputs: Metafile["inputs"],
  folder: string,
  typescript: TypeScript,
): ReadonlyMap<string, PowerUse> {
  const found = new Map<string, PowerUse>();
  for (const [input, { imports }] of Object.entries(inputs)) {
    if (input.startsWith("<")) continue;
    const file = input.replace(/^.*node_modules\//, "");
    const add = (power: string, use: string) => {
      if (!found.has(power)) found.set(power, { use, file });
    };
    for (const { path: name } of imports)
      if (isBuiltin(name)) add(name.replace(/^node:/, ""), `"${name}"`);
    if (!/\.[cm]?[jt]sx?$/.test(input)) continue;
    const text = readFileSync(path.resolve(folder, input), "utf8");
    if (!WORDS.test(text)) continue;
    const { ESNext } = typescript.ScriptTarget;
    const source = typescript.createSourceFile(input, text, ESNext, true);
    for (const { name, node } of freeNames(source, typescript)) {
      const power = name === "global" ? "globalThis" : GLOBALS.get(name);
      if (power !== undefined && !isHarmless(node, source, typescript)) add(power, `"${name}"`);
      if (name === "require" && !isPlainCall(node, typescript))
        add("module", '"require" with a name that it computes');
    }
    if (importsComputed(source, typescript)) add("module", '"import()" of a name that it computes');
  }
  return found;
}

/** Words that files contain which use something outside of the language, besides imports. */
const WORDS = /\b(?:process|fetch|WebSocket|EventSource|globalThis|global|require)\b|\bimport\s*\(/;

/** Whether a use only asks whether a name exists, or reads `process.env.NODE_ENV`, which says nothing. */
function isHarmless(node: ts.Node, source: ts.SourceFile, typescript: TypeScript): boolean {
  return (
    typescript.isTypeOfExpression(node.parent) ||
    node.parent.parent?.getText(source) === "process.env.NODE_ENV"
  );
}

/** Whether `require` loads a module that the bundle contains, or nothing. */
function isPlainCall(node: ts.Node, typescript: TypeScript): boolean {
  const { parent } = node;
  if (typescript.isTypeOfExpression(parent)) return true;
  if (!typescript.isCallExpression(parent) || parent.expression !== node) return false;
  const [name] = parent.arguments;
  return name !== undefined && typescript.isStringLiteralLike(name);
}

/** Whether a file has an `import()` of another name than a fixed one. */
function importsComputed(source: ts.SourceFile, typescript: TypeScript): boolean {
  const isComputed = (node: ts.Node): boolean =>
    typescript.isCallExpression(node) &&
    node.expression.kind === typescript.SyntaxKind.ImportKeyword &&
    !node.arguments.slice(0, 1).every((each) => typescript.isStringLiteralLike(each));
  const visit = (node: ts.Node): boolean =>
    isComputed(node) || typescript.forEachChild(node, (each) => visit(each) || undefined) === true;
  return visit(source);
}
