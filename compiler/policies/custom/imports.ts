import { isBuiltin } from "node:module";
import type { ts } from "ts-morph";
import type { ModuleMistake } from "./declaration.ts";
import type { TypeScript } from "./typescript.ts";

/** Imports and globals of a policy's module. */
export interface ModuleUses {
  /** Imported modules, as written. */
  readonly imports: readonly string[];
  /** Mistakes: imports and globals that the configuration does not allow. */
  readonly mistakes: readonly ModuleMistake[];
}

/** Global names that reach the outside, by the word that allows them in a configuration. */
const GLOBALS: Readonly<Record<string, string>> = {
  fetch: "fetch",
  WebSocket: "fetch",
  EventSource: "fetch",
  XMLHttpRequest: "fetch",
  process: "process",
};

/** Global names that run text as code or evade the rules for imports. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  "eval",
  "Function",
  "require",
  "globalThis",
  "global",
  "self",
]);

/** Finds what a module uses from outside. `allow`: names of built-in modules of Node.js, `fetch` and `process`. */
export function usesOf(
  source: ts.SourceFile,
  allow: ReadonlySet<string>,
  typescript: TypeScript,
): ModuleUses {
  const imports = new Set<string>();
  const mistakes: ModuleMistake[] = [];
  const report = (node: ts.Node, message: string) =>
    mistakes.push({ message, range: [node.getStart(source), node.getEnd()] });
  const imported = (specifier: ts.Expression) => {
    if (!typescript.isStringLiteral(specifier)) return;
    const name = specifier.text.replace(/^node:/, "");
    if (isBuiltin(specifier.text)) {
      if (!allow.has(name))
        report(specifier, `the module "${specifier.text}" is not allowed: add ${name} to "allow"`);
      else if (!specifier.text.startsWith("node:")) report(specifier, `write "node:${name}"`);
    }
    imports.add(specifier.text);
  };
  const visit = (node: ts.Node): void => {
    if (typescript.isImportDeclaration(node) || typescript.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) imported(node.moduleSpecifier);
    } else if (
      typescript.isCallExpression(node) &&
      node.expression.kind === typescript.SyntaxKind.ImportKeyword
    ) {
      report(node, "import() is not allowed: import the module at the top");
    } else if (typescript.isIdentifier(node) && isReference(node, typescript)) {
      const word = Object.hasOwn(GLOBALS, node.text) ? GLOBALS[node.text] : undefined;
      if (word !== undefined && !allow.has(word))
        report(node, `"${node.text}" is not allowed: add ${word} to "allow"`);
      if (FORBIDDEN.has(node.text)) report(node, `"${node.text}" is not allowed in a policy`);
    }
    typescript.forEachChild(node, visit);
  };
  visit(source);
  return { imports: [...imports], mistakes };
}

/** Whether an identifier is a name that is looked up, rather than one of a property or a type. */
function isReference(node: ts.Identifier, typescript: TypeScript): boolean {
  const { parent } = node;
  if (typescript.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (typescript.isPropertyAssignment(parent)) return parent.initializer === node;
  if (typescript.isTypeNode(parent) || typescript.isQualifiedName(parent)) return false;
  return !typescript.isMethodDeclaration(parent) && !typescript.isPropertySignature(parent);
}
