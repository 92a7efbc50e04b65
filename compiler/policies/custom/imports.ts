import { isBuiltin } from "node:module";
import { runInNewContext } from "node:vm";
import type { ts } from "ts-morph";
import { languageChanges } from "./changed-language.ts";
import type { ModuleMistake } from "./declaration.ts";
import { freeNames } from "./free-names.ts";
import { GLOBALS } from "./powers.ts";
import type { TypeScript } from "./typescript.ts";

/** Imports and globals of a policy's module. */
export interface ModuleUses {
  /** Imported modules, as written. */
  readonly imports: readonly string[];
  /** Mistakes: imports and globals that the configuration does not allow. */
  readonly mistakes: readonly ModuleMistake[];
}

/** Names of the language that run text as code. */
const FORBIDDEN: ReadonlySet<string> = new Set(["eval", "Function"]);

/** Names of the language, as a context without anything else has them. */
const LANGUAGE: readonly string[] = runInNewContext("Object.getOwnPropertyNames(globalThis)");

/** Names of Web standards that a gateway has and that reach nothing outside. */
const WEB = [
  ...["AbortController", "AbortSignal", "Blob", "ByteLengthQueuingStrategy", "CompressionStream"],
  ...["CountQueuingStrategy", "Crypto", "CryptoKey", "CustomEvent", "DOMException"],
  ...["DecompressionStream", "Event", "EventTarget", "File", "FormData", "Headers"],
  ...["MessageChannel", "MessagePort", "ReadableByteStreamController", "ReadableStream"],
  ...["ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableStreamDefaultController"],
  ...["ReadableStreamDefaultReader", "Request", "Response", "SubtleCrypto", "TextDecoder"],
  ...["TextDecoderStream", "TextEncoder", "TextEncoderStream", "TransformStream"],
  ...["TransformStreamDefaultController", "URL", "URLPattern", "URLSearchParams"],
  ...["WritableStream", "WritableStreamDefaultController", "WritableStreamDefaultWriter", "atob"],
  ...["btoa", "clearInterval", "clearTimeout", "console", "crypto", "performance"],
  ...["queueMicrotask", "setInterval", "setTimeout", "structuredClone"],
];

const KNOWN: ReadonlySet<string> = new Set(
  [...LANGUAGE, ...WEB, "arguments"].filter((name) => !FORBIDDEN.has(name)),
);

/** Replacements of names that only Node.js has, or only other module systems. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  [
    "Buffer",
    'use Uint8Array, TextEncoder and btoa; or import "node:buffer", and add buffer to "allow"',
  ],
  ["require", "write import ... from at the top"],
  ["module", "write export default"],
  ["global", "names of the language need no prefix"],
  ["window", "names of the language need no prefix"],
  ["setImmediate", "use setTimeout or queueMicrotask"],
]);

/** A package of npm, or a module of one. */
const PACKAGE = /^(?:@[\w-][\w.-]*\/)?[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** Finds what a module uses from outside. `allow`: names of built-in modules of Node.js, and words for global names. */
export function usesOf(
  source: ts.SourceFile,
  allow: ReadonlySet<string>,
  typescript: TypeScript,
): ModuleUses {
  const imports = new Set<string>();
  const mistakes: ModuleMistake[] = [];
  const report = (node: ts.Node, message: string, hint?: string) =>
    mistakes.push({ message, hint, range: [node.getStart(source), node.getEnd()] });
  const imported = (specifier: ts.Expression) => {
    if (!typescript.isStringLiteral(specifier)) return;
    const { text } = specifier;
    const name = text.replace(/^node:/, "");
    imports.add(text);
    if (isBuiltin(text)) {
      if (!allow.has(name))
        report(specifier, `the module "${text}" is not allowed: add ${name} to "allow"`);
      else if (!text.startsWith("node:")) report(specifier, `write "node:${name}"`);
    } else if (/^gwc(?:\/|$)/.test(text)) {
      if (text !== "gwc/policy") report(specifier, 'of gwc, a policy imports "gwc/policy" only');
    } else if (!/^\.\.?\//.test(text) && !PACKAGE.test(text))
      report(specifier, `"${text}" is not a file of the folder "policies", nor a package`);
  };
  const visit = (node: ts.Node, isInFunction: boolean): void => {
    if (typescript.isImportDeclaration(node) || typescript.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) imported(node.moduleSpecifier);
    } else if (typescript.isImportEqualsDeclaration(node)) {
      report(node, "write import ... from instead of import ... =");
    } else if (
      typescript.isCallExpression(node) &&
      node.expression.kind === typescript.SyntaxKind.ImportKeyword
    ) {
      report(node, "import() is not allowed: import the module at the top");
    } else if (typescript.isMetaProperty(node) && node.getText(source) === "import.meta") {
      report(node, "import.meta is not allowed: a policy has no file when it runs");
    } else if (isAwait(node, typescript) && !isInFunction) {
      report(node, "await is not allowed outside of functions: a gateway starts without waiting");
    } else if (readsConstructor(node, typescript)) {
      report(node, '"constructor" is not allowed in a policy');
    }
    const isNext = isInFunction || typescript.isFunctionLike(node);
    typescript.forEachChild(node, (each) => visit(each, isNext));
  };
  visit(source, false);
  const free = freeNames(source, typescript);
  const nodes: ReadonlySet<ts.Node> = new Set(free.map(({ node }) => node));
  for (const { node, name } of languageChanges(source, (each) => nodes.has(each), typescript))
    report(node, `"${name}" belongs to all policies and the gateway: a policy cannot change it`);
  for (const { name, node } of free) {
    const word = GLOBALS.get(name);
    if (word !== undefined) {
      if (!allow.has(word)) report(node, `"${name}" is not allowed: add ${word} to "allow"`);
    } else if (FORBIDDEN.has(name)) report(node, `"${name}" is not allowed in a policy`);
    else if (!KNOWN.has(name))
      report(
        node,
        `"${name}" is not declared, and not a name that policies can use`,
        INSTEAD.get(name),
      );
  }
  return { imports: [...imports], mistakes };
}

function isAwait(node: ts.Node, typescript: TypeScript): boolean {
  return (
    typescript.isAwaitExpression(node) ||
    (typescript.isForOfStatement(node) && node.awaitModifier !== undefined)
  );
}

/** Whether a node reads the constructor of a value: that of a function makes functions of texts. */
function readsConstructor(node: ts.Node, typescript: TypeScript): boolean {
  const name = "constructor";
  if (typescript.isPropertyAccessExpression(node)) return node.name.text === name;
  if (typescript.isElementAccessExpression(node))
    return (
      typescript.isStringLiteralLike(node.argumentExpression) &&
      node.argumentExpression.text === name
    );
  return (
    typescript.isBindingElement(node) &&
    typescript.isIdentifier(node.propertyName ?? node.name) &&
    (node.propertyName ?? node.name).getText() === name
  );
}
