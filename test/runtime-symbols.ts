import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { ts } from "ts-morph";
import { root } from "./harness/root.ts";

/** Prefix of modules of the runtime, as templates and the compiler name them. */
const PREFIX = "gwc/runtime/";

/** A part of a string that only the configuration decides. */
const ANY = "*";

/** A source of the templates or the compiler, parsed but not typed. */
interface Parsed {
  readonly file: string;
  readonly tree: ts.SourceFile;
  readonly calls: readonly ts.CallExpression[];
  readonly strings: readonly (ts.StringLiteralLike | ts.TemplateExpression)[];
  readonly constants: ReadonlyMap<string, readonly ts.VariableDeclaration[]>;
}

/** A way to look up another source by its path. */
type Sources = ReadonlyMap<string, Parsed>;

/** The texts of templates and compiler that name modules of the runtime, by file. */
export function namingTexts(): ReadonlyMap<string, string> {
  const files = ["templates", "compiler"].flatMap((folder) =>
    globSync(`${folder}/**/*.ts`, { cwd: root }),
  );
  const texts = files.map((file) => [file, readFileSync(path.join(root, file), "utf8")] as const);
  return new Map(
    texts.filter(([, text]) => /\bimported(?:Type)?\(|gwc\/runtime\/|[a-z]#\w/.test(text)),
  );
}

/**
 * Returns the places where a text names a module of the runtime that does not exist, or a symbol that it does not export.
 * Only the bundler would see them, and only for a configuration that uses them.
 */
export function missingSymbols(texts: ReadonlyMap<string, string>): readonly string[] {
  const parsed = [...texts].map(([file, text]) => [file, parse(file, text)] as const);
  const sources = new Map(parsed);
  return parsed.flatMap(([, source]) => [
    ...missingModules(source),
    ...missingInText(source),
    ...missingHelpers(source, sources),
    ...source.calls.flatMap((call) => missingExports(call, source, sources)),
  ]);
}

function parse(file: string, text: string): Parsed {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const calls: ts.CallExpression[] = [];
  const strings: (ts.StringLiteralLike | ts.TemplateExpression)[] = [];
  const declared: ts.VariableDeclaration[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) calls.push(node);
    else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) strings.push(node);
    else if (ts.isVariableDeclaration(node)) declared.push(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  const constants = Map.groupBy(declared, ({ name }) => name.getText());
  return { file, tree, calls, strings, constants };
}

/** Returns the strings that name neither a module nor a folder of modules. */
function missingModules(source: Parsed): readonly string[] {
  return source.strings
    .filter((node) => ts.isStringLiteralLike(node))
    .filter(({ text }) => /^gwc\/runtime\/[\w/-]+$/.test(text) && !existsSync(fileOf(text)))
    .filter(({ text }) => !existsSync(path.join(root, text.slice("gwc/".length))))
    .map((node) => `${placeOf(node, source)}: no ${node.text}`);
}

/** Returns the symbols in vain of imports that are written as text, or loaded on demand. */
function missingInText({ file, tree }: Parsed): readonly string[] {
  const text = tree.getFullText();
  const statements = [
    ...text.matchAll(/\bimport (?:type )?\{([^}]*)\} from "(gwc\/runtime\/[\w/-]+)"/g),
    ...text.matchAll(/\{([^{}]*)\} = await import\("(gwc\/runtime\/[\w/-]+)"\)/g),
  ];
  return statements.flatMap(([, names = "", module = ""]) =>
    names
      .split(",")
      .map((name) => name.trim().split(/[ :]/)[0] ?? "")
      .filter((name) => name !== "" && !exportsOf(module).includes(name))
      .map((name) => `${file}: no ${name} in ${module}`),
  );
}

/** Returns the helpers of CEL that do not exist: `values/select#field` is `field` of `gwc/runtime/cel/values/select`. */
function missingHelpers(source: Parsed, sources: Sources): readonly string[] {
  if (!source.file.startsWith("compiler/cel/")) return [];
  return source.strings.flatMap((node) =>
    valuesOf(node, source, sources).flatMap((reference) => {
      const [, module, symbol = ""] = /^([a-z]+\/[a-z-]+)#(\w+)$/.exec(reference) ?? [];
      const isMissing =
        module !== undefined && !exportsOf(`${PREFIX}cel/${module}`).includes(symbol);
      return isMissing ? [`${placeOf(node, source)}: no ${reference}`] : [];
    }),
  );
}

/** Returns what `imported(MODULE, SYMBOL)` names in vain; nothing for modules of the bundle. */
function missingExports(
  call: ts.CallExpression,
  source: Parsed,
  sources: Sources,
): readonly string[] {
  if (!/^imported(?:Type)?$/.test(call.expression.getText())) return [];
  const [module, symbol] = call.arguments.map((each) => valuesOf(each, source, sources));
  const modules = module?.filter((value) => value.startsWith(PREFIX)) ?? [];
  if (modules.length === 0 || symbol === undefined) return [];
  return symbol
    .filter((value) => !modules.some((each) => exportsOf(each).some(fits(value))))
    .map((value) => `${placeOf(call, source)}: no ${value} in ${modules.join(" or ")}`);
}

/** Returns the values that an expression can have, with ANY for parts that the text does not tell. */
function valuesOf(node: ts.Expression, source: Parsed, sources: Sources): readonly string[] {
  const values = (inner: ts.Expression) => valuesOf(inner, source, sources);
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node))
    return [...values(node.whenTrue), ...values(node.whenFalse)];
  if (ts.isParenthesizedExpression(node)) return values(node.expression);
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ expression, literal }) =>
      values(expression).map((value) => `${value}${literal.text}`),
    );
    return spans.reduce(
      (before, after) => before.flatMap((text) => after.map((each) => text + each)),
      [node.head.text],
    );
  }
  if (ts.isIdentifier(node)) {
    const found = constantOf(node, source, sources);
    if (found !== undefined) return valuesOf(found.value, found.source, sources);
    const given = [...elementsOf(node, source), ...argumentsFor(node, source)];
    return given.length === 0 ? [ANY] : given.flatMap(values);
  }
  if (ts.isElementAccessExpression(node) || ts.isPropertyAccessExpression(node)) {
    const name = ts.isPropertyAccessExpression(node) ? node.name.text : undefined;
    const found = membersOf(node.expression, name, source, sources);
    return found.length === 0 ? [ANY] : found.flatMap(values);
  }
  return [ANY];
}

/** Returns the value of the innermost constant of that name, which another source may declare. */
function constantOf(
  name: ts.Identifier,
  source: Parsed,
  sources: Sources,
): { readonly value: ts.Expression; readonly source: Parsed } | undefined {
  const scopes = (source.constants.get(name.text) ?? [])
    .map((node) => ({ node, scope: node.parent.parent.parent }))
    .filter(({ scope }) => scope.pos <= name.pos && name.end <= scope.end)
    .toSorted((a, b) => a.scope.end - a.scope.pos - (b.scope.end - b.scope.pos));
  const declared = scopes[0]?.node;
  if (declared !== undefined)
    return declared.initializer && { value: declared.initializer, source };
  for (const statement of source.tree.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier))
      continue;
    const named = statement.importClause?.namedBindings;
    if (named === undefined || !ts.isNamedImports(named)) continue;
    if (!named.elements.some((element) => element.name.text === name.text)) continue;
    const from = path.posix.join(path.posix.dirname(source.file), statement.moduleSpecifier.text);
    const other = sources.get(from);
    const [exported] = other?.constants.get(name.text) ?? [];
    if (other && exported?.initializer) return { value: exported.initializer, source: other };
  }
  return undefined;
}

/** Returns the values of `b` after `const [a, b] = condition ? [1, 2] : [3, 4]`. */
function elementsOf(name: ts.Identifier, source: Parsed): readonly ts.Expression[] {
  const lists = (node: ts.Expression | undefined): readonly ts.Expression[][] => {
    if (node === undefined) return [];
    if (ts.isConditionalExpression(node))
      return [...lists(node.whenTrue), ...lists(node.whenFalse)];
    if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node))
      return lists(node.expression);
    return ts.isArrayLiteralExpression(node) ? [[...node.elements]] : [];
  };
  return [...source.constants.values()].flat().flatMap(({ name: pattern, initializer }) => {
    if (!ts.isArrayBindingPattern(pattern)) return [];
    const at = pattern.elements.findIndex((element) => element.getText() === name.text);
    return at === -1 ? [] : lists(initializer).flatMap((list) => list[at] ?? []);
  });
}

/** Returns the arguments with which the source calls the function whose parameter this is. */
function argumentsFor(name: ts.Identifier, source: Parsed): readonly ts.Expression[] {
  for (let node: ts.Node = name; node.parent !== undefined; node = node.parent) {
    if (!ts.isFunctionDeclaration(node) && !ts.isArrowFunction(node)) continue;
    const at = node.parameters.findIndex((parameter) => parameter.name.getText() === name.text);
    if (at === -1) continue;
    const { parent } = node;
    const named = ts.isArrowFunction(node) && ts.isVariableDeclaration(parent) ? parent : node;
    const called = named.name?.getText();
    return source.calls
      .filter(({ expression }) => expression.getText() === called)
      .flatMap((call) => call.arguments[at] ?? []);
  }
  return [];
}

/** Returns the values of an object's members, or of its member of that name. */
function membersOf(
  object: ts.Expression,
  name: string | undefined,
  source: Parsed,
  sources: Sources,
): readonly ts.Expression[] {
  if (!ts.isIdentifier(object)) return [];
  const value = constantOf(object, source, sources)?.value;
  const literal = value && ts.isAsExpression(value) ? value.expression : value;
  if (literal === undefined || !ts.isObjectLiteralExpression(literal)) return [];
  return literal.properties
    .filter((property) => ts.isPropertyAssignment(property))
    .filter((property) => name === undefined || property.name.getText() === name)
    .map(({ initializer }) => initializer);
}

function placeOf(node: ts.Node, { file, tree }: Parsed): string {
  return `${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

function fileOf(module: string): string {
  return path.join(root, `${module.slice("gwc/".length)}.ts`);
}

function fits(symbol: string): (name: string) => boolean {
  const pattern = new RegExp(`^${symbol.replaceAll("$", "\\$").replaceAll(ANY, "\\w*")}$`);
  return (name) => pattern.test(name);
}

/** Returns the exported names of a module; those of every module that fits if its name has parts that are not known. */
function exportsOf(module: string): readonly string[] {
  const known = EXPORTS.get(module) ?? readExports(module);
  EXPORTS.set(module, known);
  return known;
}

/** Exported names by module, read once. */
const EXPORTS = new Map<string, readonly string[]>();

function readExports(module: string): readonly string[] {
  const files = module.includes(ANY)
    ? globSync(fileOf(module).replaceAll(ANY, "*"))
    : [fileOf(module)].filter((file) => existsSync(file));
  return files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = ""]) =>
      names.split(",").map((each) => each.trim().replace(/^.* /, "")),
    );
    return [...[...text.matchAll(DECLARED)].map(([, name = ""]) => name), ...listed];
  });
}

const DECLARED =
  /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;
