import type { ts } from "ts-morph";
import type { TypeScript } from "./typescript.ts";

/** A name in a module that the module does not declare, and its identifier. */
export interface FreeName {
  readonly name: string;
  readonly node: ts.Identifier;
}

/** Finds the names of values that a module uses without declaring them. `declare` declares nothing: it is a claim about others. */
export function freeNames(source: ts.SourceFile, typescript: TypeScript): readonly FreeName[] {
  const checker = checkerOf(source, typescript);
  const found: FreeName[] = [];
  const visit = (node: ts.Node): void => {
    if (typescript.isPartOfTypeNode(node)) return;
    if (typescript.isIdentifier(node) && isUse(node, typescript)) {
      const symbol = typescript.isShorthandPropertyAssignment(node.parent)
        ? checker.getShorthandAssignmentValueSymbol(node.parent)
        : checker.getSymbolAtLocation(node);
      if (!isDeclared(symbol, typescript)) found.push({ name: node.text, node });
    }
    typescript.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A checker of one module without libraries, which only binds names. */
function checkerOf(source: ts.SourceFile, typescript: TypeScript): ts.TypeChecker {
  const { fileName } = source;
  return typescript
    .createProgram({
      rootNames: [fileName],
      options: {
        noLib: true,
        allowJs: true,
        noResolve: true,
        types: [],
        target: source.languageVersion,
      },
      host: {
        fileExists: (name) => name === fileName,
        readFile: (name) => (name === fileName ? source.text : undefined),
        getSourceFile: (name) => (name === fileName ? source : undefined),
        getDefaultLibFileName: () => "",
        getCurrentDirectory: () => "/",
        getCanonicalFileName: (name) => name,
        useCaseSensitiveFileNames: () => true,
        getNewLine: () => "\n",
        writeFile: () => {},
      },
    })
    .getTypeChecker();
}

/** Whether an identifier is a value that is looked up, rather than the name of a declaration or of a property. */
function isUse(node: ts.Identifier, typescript: TypeScript): boolean {
  const { parent } = node;
  if (typescript.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (typescript.isShorthandPropertyAssignment(parent)) return true;
  if (typescript.isPropertyAssignment(parent)) return parent.initializer === node;
  if (typescript.isExportSpecifier(parent) || typescript.isImportSpecifier(parent)) return false;
  if (typescript.isBindingElement(parent)) return parent.initializer === node;
  if (typescript.isQualifiedName(parent) || typescript.isMetaProperty(parent)) return false;
  if (typescript.isLabeledStatement(parent) || typescript.isBreakOrContinueStatement(parent))
    return false;
  // Names of declarations have a symbol, ambient ones too; those are no use.
  return !("name" in parent && parent.name === node);
}

/** Whether a symbol has a declaration that exists when the module runs. */
function isDeclared(symbol: ts.Symbol | undefined, typescript: TypeScript): boolean {
  return (symbol?.declarations ?? []).some((each) => !isAmbient(each, typescript));
}

/** Whether a declaration is `declare`, or within one. */
function isAmbient(declaration: ts.Node, typescript: TypeScript): boolean {
  for (let node: ts.Node | undefined = declaration; node !== undefined; node = node.parent) {
    const modifiers = typescript.canHaveModifiers(node) ? typescript.getModifiers(node) : undefined;
    if (modifiers?.some(({ kind }) => kind === typescript.SyntaxKind.DeclareKeyword) === true)
      return true;
  }
  return false;
}
