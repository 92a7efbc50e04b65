import { code } from "./code.ts";
import type { Code, ImportSymbol } from "./hole.ts";
import { capitalized, imported, importedType, name } from "./names.ts";

const LOG_VALUES = "gwc/runtime/telemetry/logs/log-values";
const VARIABLES = "gwc/runtime/cel/variables";

/** Writes a CEL variable as a parameter of an emitted function: `jwt: JwtVariable`. */
export function parameter(variable: string): Code {
  return code`${name(variable)}: ${typeOf(variable)}`;
}

/** CEL variables that the policies of a route declare in its function, in request order, and whether they are read. */
export class RouteVariables {
  readonly #declared = new Set<string>();
  readonly #read = new Set<string>();
  readonly #attributes = new Set<string>();
  #hasIdentity = false;

  /** Declares that the function has an identity under this name from here on. */
  declareIdentity(variable: string): void {
    this.#declared.add(variable);
    this.#hasIdentity = true;
  }

  /** Declares that the exchange has an identity, which a policy of the listener established. */
  establishIdentity(variable: string): void {
    this.#attributes.add(variable);
    this.#hasIdentity = true;
  }

  /** Declares that the exchange has the variable from here on. */
  establish(variable: string): void {
    this.#attributes.add(variable);
  }

  /** Returns the argument for a variable; `null` for an identity that no earlier policy establishes. */
  argument(variable: string): Code {
    if (variable === "request") return code`exchange`;
    if (variable === "response") return code`response`;
    if (variable === "env") return code`exchange.gateway.env`;
    // In functions that are called for each message.
    if (variable === "mcp") return code`mcp`;
    if (variable === "llm") return code`exchange.attributes.llm`;
    if (variable === "backend") return code`${imported(LOG_VALUES, "calledBackend")}(exchange)`;
    if (!this.#declared.has(variable)) {
      return this.#attributes.has(variable)
        ? code`exchange.attributes.${name(variable)}`
        : code`null`;
    }
    this.#read.add(variable);
    return code`${name(variable)}`;
  }

  /** Returns whether an earlier policy establishes it. */
  has(variable: string): boolean {
    return this.#declared.has(variable) || this.#attributes.has(variable);
  }

  isRead(variable: string): boolean {
    return this.#read.has(variable);
  }

  /** Whether a policy established an identity. */
  get hasIdentity(): boolean {
    return this.#hasIdentity;
  }
}

function typeOf(variable: string): ImportSymbol {
  switch (variable) {
    case "request":
      return importedType(VARIABLES, "RequestVariables");
    case "response":
      return importedType(VARIABLES, "ResponseVariables");
    case "env":
      return importedType(VARIABLES, "EnvVariables");
    case "mcp":
      return importedType(VARIABLES, "McpVariables");
    case "extauthz":
    case "extproc":
    case "custom":
    case "metadata":
      return importedType(VARIABLES, "PolicyVariable");
    default:
      return importedType(VARIABLES, `${capitalized(variable)}Variable`);
  }
}
