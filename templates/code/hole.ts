import type { EnvTemplate } from "../../compiler/model/texts.ts";

/** Marks what these modules made: configuration data can look like code, but never carries a symbol. */
export const made = Symbol("made by templates/code");

/** A name that the printed module has to import; printing it collects the import. */
export interface ImportSymbol {
  readonly [made]: true;
  readonly kind: "import";
  readonly module: string;
  readonly name: string;
  readonly isType: boolean;
}

/** An identifier of the printed module. */
export interface Name {
  readonly [made]: true;
  readonly kind: "name";
  readonly text: string;
}

/**
 * TypeScript text under construction. Made by the `code` tag only: a hole takes code, an import symbol, a literal, a
 * name or a comment, never a bare string, so configuration text can't become code by accident.
 */
export interface Code {
  readonly [made]: true;
  readonly kind: "code";
  readonly parts: readonly (string | Hole)[];
}

/** A value printed as a TypeScript literal, broken over lines when it doesn't fit. */
export interface Literal {
  readonly [made]: true;
  readonly kind: "literal";
  readonly value: Printable;
}

/** An object literal that begins with what another object holds: `{ ...base, key: value }`. */
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

/** The first form that fits on its line; the last one when none does. Of several forms the first has no line break. */
export interface Group {
  readonly [made]: true;
  readonly kind: "group";
  readonly forms: readonly Hole[];
  /** True when it is broken whether it fits or not. */
  readonly isBroken: boolean;
}

/** A possible line break: in a group that is broken a line break, else `flat`. */
export interface Break {
  readonly [made]: true;
  readonly kind: "break";
  readonly flat: "" | " ";
}

/** What stands two columns deeper when the group around it is broken. */
export interface Indented {
  readonly [made]: true;
  readonly kind: "indented";
  readonly content: Hole;
}

/** One text in a group that is broken, another one in a group on one line. */
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

/** What may stand in a template's hole. */
export type Hole =
  | Comment
  | Group
  | Break
  | Indented
  | BrokenOnly
  | Filled
  | Expression
  | readonly Hole[];

/** What a literal may hold: JSON data, and code where a value is not plain data. */
export type Printable =
  | string
  | number
  | boolean
  | null
  | EnvTemplate
  | Expression
  | readonly Printable[]
  | { readonly [key: string]: Printable | undefined };

/** A hole, or text of the templates' own. */
export type Piece = Hole | string;

/**
 * An expression of TypeScript as a tree: what the CEL compiler emits. Whoever asks about emitted code asks the tree;
 * parentheses and line breaks are the printer's. Code and literals of templates are leaves of it.
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

/** A parameter of an arrow function that has no name yet: `nameLocals` gives it one that nothing else has. */
export interface LocalName {
  readonly [made]: true;
  readonly kind: "local";
  readonly proposal: string;
}

/** A constant of the module that an expression refers to; the same initializer is declared once in a module. */
export interface HoistedConstant {
  readonly [made]: true;
  readonly kind: "constant";
  /** A proposal, camelCase; the module may append a number to keep names apart. */
  readonly proposal: string;
  /** The type annotation, when the initializer doesn't say it. */
  readonly type: ConstantType | undefined;
  readonly initializer: Expression;
}

/** The types that constants are declared with. */
export type ConstantType = "readonly unknown[]" | "ReadonlySet<string>" | "ReadonlySet<unknown>";

/** A literal that is no list and no object. */
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

/** Operators of two operands, in groups of those that bind alike. */
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

/** `a && b && c`: two operands or more, the first two of them first. */
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

/** Whether a value is made by these modules; data that looks like it is not. Lists of holes are data like any other. */
export function isHole(value: unknown): value is Exclude<Hole, readonly Hole[]> {
  return typeof value === "object" && value !== null && made in value;
}
