/**
 * A CEL expression, checked and compiled. Plain data: templates print it, `--print program` shows it.
 * Made by cel/compile.ts.
 */
export interface CompiledExpression {
  /** The expression as the user wrote it, on one line. */
  readonly source: string;
  /** The static type: `bool`, `dyn`, `list(string)`, ... */
  readonly type: string;
  /**
   * The variables the code reads, sorted: `["jwt", "mcp"]`. The emitting template destructures exactly these from the
   * function's input, under these names.
   */
  readonly variables: readonly string[];
  /** The paths it reads, for what the route has to collect: `["request", "body"]`, `["jwt", "sub"]`. */
  readonly reads: readonly (readonly string[])[];
  /** Fields of variables without which it cannot be true, sorted: `mcp.tool`. */
  readonly needs: readonly string[];
  /** The TypeScript expression for the slot it was compiled for. */
  readonly code: ExpressionCode;
}

/** TypeScript text with what it needs around it. */
export interface ExpressionCode {
  /** An expression; at most 90 columns a line, continuation lines unindented. */
  readonly text: string;
  /** What it imports from the runtime. */
  readonly imports: readonly ImportedName[];
  /** Module constants it refers to by name (sets, compiled patterns); the names are unique within an expression. */
  readonly constants: readonly HoistedConstant[];
}

/** A name that emitted code imports. */
export interface ImportedName {
  /** `gwc/runtime/cel/values/select` */
  readonly module: string;
  readonly name: string;
  /** True for a type. */
  readonly isType?: boolean;
}

/** A module constant that an emitted expression refers to. */
export interface HoistedConstant {
  /** A proposal, camelCase; the module that prints it may append a number to keep names apart. */
  readonly name: string;
  /** The type annotation, when the initializer doesn't say it. */
  readonly type?: string;
  /** The initializer. */
  readonly text: string;
  readonly imports: readonly ImportedName[];
}
