import type { EnvTemplate } from "../../compiler/model/texts.ts";

/** Key of the mark on values of these modules. Configuration data can look like code, but never has a symbol. */
export const made = Symbol("made by templates/code");

/** A name that the printed module imports; the printer collects the import. */
export interface ImportSymbol {
  readonly [made]: true;
  readonly kind: "import";
  readonly module: string;
  readonly name: string;
  readonly isType: boolean;
  /** Set for the default export of a module, which gets this name. */
  readonly isDefault?: true;
}

/** An identifier of the printed module. */
export interface Name {
  readonly [made]: true;
  readonly kind: "name";
  readonly text: string;
}

/**
 * TypeScript under construction. Only the `code` tag makes it. A hole accepts code, an import symbol, a literal, a
 * name or a comment, never a bare string, so that configuration strings cannot become code by accident.
 */
export interface Code {
  readonly [made]: true;
  readonly kind: "code";
  readonly parts: readonly (string | Hole)[];
}

/** A value that is printed as a TypeScript literal, broken over lines if it does not fit. */
export interface Literal {
  readonly [made]: true;
  readonly kind: "literal";
  readonly value: Printable;
}

/** An object literal that spreads another object first: `{ ...base, key: value }`. */
export interface Extension {
  readonly [made]: true;
  readonly kind: "extension";
  readonly base: ImportSymbol;
  readonly fields: { readonly [key: string]: Printable | undefined };
}

/** One or more `//` lines. */
export interface Comment {
  readonly [made]: true;
  readonly kind: "comment";
  readonly text: string;
}

/**
 * The first form that fits on its line, or the last one if none does. Of several forms, the first has no line break.
 */
export interface Group {
  readonly [made]: true;
  readonly kind: "group";
  readonly forms: readonly Hole[];
  /** Whether it is broken even if it fits. */
  readonly isBroken: boolean;
}

/** A possible line break: printed as one in a broken group, otherwise as `flat`. */
export interface Break {
  readonly [made]: true;
  readonly kind: "break";
  readonly flat: "" | " ";
}

/** A piece that is indented by two columns if the group around it is broken. */
export interface Indented {
  readonly [made]: true;
  readonly kind: "indented";
  readonly content: Hole;
}

/** One string in a broken group, another one in a group on one line. */
export interface BrokenOnly {
  readonly [made]: true;
  readonly kind: "broken-only";
  readonly broken: string;
  readonly flat: string;
}

/** Numbers, as many on a line as fit. */
export interface Filled {
  readonly [made]: true;
  readonly kind: "filled";
  readonly items: readonly string[];
}

/** Content of a template's hole. */
export type Hole =
  | Comment
  | Group
  | Break
  | Indented
  | BrokenOnly
  | Filled
  | Expression
  | readonly Hole[];

/** Content of a literal: JSON data, and code if a value is not plain data. */
export type Printable =
  | string
  | number
  | boolean
  | null
  | EnvTemplate
  | Expression
  | readonly Printable[]
  | { readonly [key: string]: Printable | undefined };

/** A hole, or a fixed string of a template. */
export type Piece = Hole | string;

/**
 * A TypeScript expression as a tree, which the CEL compiler emits. Checks on emitted code inspect the tree;
 * parentheses and line breaks are added by the printer. Code and literals of templates are leaves.
 */
export type Expression =
  | Code
  | Literal
  | Extension
  | Name
  | ImportSymbol
  | LocalName
  | HoistedConstant
  | ValueExpression
  | MemberExpression
  | CallExpression
  | BinaryExpression
  | NotExpression
  | ConditionalExpression
  | ArrowFunction
  | ListExpression
  | ObjectExpression;

/** A parameter of an arrow function without a name; `nameLocals` assigns a unique one. */
export interface LocalName {
  readonly [made]: true;
  readonly kind: "local";
  readonly proposal: string;
}

/** A constant of the module that an expression refers to; equal initializers are declared once in a module. */
export interface HoistedConstant {
  readonly [made]: true;
  readonly kind: "constant";
  /** Suggested name in camelCase; the module may append a number to keep names apart. */
  readonly proposal: string;
  /** Type annotation, if the initializer does not imply it. */
  readonly type: ConstantType | undefined;
  readonly initializer: Expression;
}

/** Types that constants are declared with. */
export type ConstantType = "readonly unknown[]" | "ReadonlySet<string>" | "ReadonlySet<unknown>";

/** A literal other than a list or an object. */
export interface ValueExpression {
  readonly [made]: true;
  readonly kind: "value";
  readonly value: string | number | bigint | boolean | null | undefined;
}

/** `object.property`, `object?.property`. */
export interface MemberExpression {
  readonly [made]: true;
  readonly kind: "member";
  readonly object: Expression;
  readonly property: string;
  readonly isOptional: boolean;
}

/** `callee(a, b)`, `new callee(a, b)`. */
export interface CallExpression {
  readonly [made]: true;
  readonly kind: "call";
  readonly callee: Expression;
  readonly args: readonly Expression[];
  readonly isNew: boolean;
}

/** Binary operators, in groups of the same precedence. */
export type Operator =
  | "??"
  | "||"
  | "&&"
  | "==="
  | "!=="
  | "<"
  | "<="
  | ">"
  | ">="
  | "+"
  | "-"
  | "*"
  | "/";

/** `a && b && c`: two operands or more, evaluated from the left. */
export interface BinaryExpression {
  readonly [made]: true;
  readonly kind: "binary";
  readonly operator: Operator;
  readonly operands: readonly Expression[];
}

/** `!operand`. */
export interface NotExpression {
  readonly [made]: true;
  readonly kind: "not";
  readonly operand: Expression;
}

/** `test ? consequent : alternate`. */
export interface ConditionalExpression {
  readonly [made]: true;
  readonly kind: "conditional";
  readonly test: Expression;
  readonly consequent: Expression;
  readonly alternate: Expression;
}

/** `(parameters) => body`. */
export interface ArrowFunction {
  readonly [made]: true;
  readonly kind: "arrow";
  readonly parameters: readonly (LocalName | Name)[];
  readonly body: Expression;
}

/** `[a, b]`. */
export interface ListExpression {
  readonly [made]: true;
  readonly kind: "list";
  readonly items: readonly Expression[];
}

/** `{ key: value }`. */
export interface ObjectExpression {
  readonly [made]: true;
  readonly kind: "object";
  readonly entries: readonly (readonly [key: string, value: Expression])[];
}

/** Returns whether a value was made by these modules, which similar data was not. Lists of holes count as data. */
export function isHole(value: unknown): value is Exclude<Hole, readonly Hole[]> {
  return typeof value === "object" && value !== null && made in value;
}
