import type { Expression } from "../../templates/code/hole.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** A named expression, as configured: a header, a field. */
export interface NamedExpression {
  readonly name: string;
  readonly text: string;
  readonly origin: Origin;
}

/**
 * A CEL expression, checked and compiled by cel/compile.ts. Templates print its code; `--print program` shows it as
 * text.
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
  /** The cookies and query parameters that it reads by name; `undefined` if it reads none. */
  readonly parameters?: PickedParameters | undefined;
  /** The TypeScript expression for the slot it was compiled for. Constants of the module are nodes of it. */
  readonly code: Expression;
}

/** Cookies and query parameters by name; `any`: a name is known only at run time. */
export interface PickedParameters {
  readonly cookies: readonly string[] | "any";
  readonly query: readonly string[] | "any";
}
