import { code } from "./code.ts";
import type { Code, ImportSymbol } from "./hole.ts";
import { capitalized, imported, importedType, name } from "./names.ts";

const LOG_VALUES = "gwc/runtime/telemetry/logs/log-values";
const VARIABLES = "gwc/runtime/cel/variables";

/** A CEL variable as a parameter of an emitted function: `jwt: JwtVariable`. */
export function parameter(variable: string): Code {
  return code`${name(variable)}: ${typeOf(variable)}`;
}

/** The CEL variables that the policies of a route declare in its function, in request order, and who reads them. */
export class RouteVariables {
  readonly #declared = new Set<string>();
  readonly #read = new Set<string>();
  readonly #attributes = new Set<string>();
  #hasIdentity = false;

  /** From here on the function holds who the client is under this name. */
  declareIdentity(variable: string): void {
    this.#declared.add(variable);
    this.#hasIdentity = true;
  }

  /** The exchange holds who the client is: a policy of the listener found it out. */
  establishIdentity(variable: string): void {
    this.#attributes.add(variable);
    this.#hasIdentity = true;
  }

  /** From here on the exchange holds it. */
  establish(variable: string): void {
    this.#attributes.add(variable);
  }

  /** What the function passes for a variable; an identity that no policy before established is null. */
  argument(variable: string): Code {
    if (variable === "request") return code`exchange`;
    if (variable === "response") return code`response`;
    if (variable === "env") return code`exchange.gateway.env`;
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

  /** True when a policy before this one establishes it. */
  has(variable: string): boolean {
    return this.#declared.has(variable) || this.#attributes.has(variable);
  }

  isRead(variable: string): boolean {
    return this.#read.has(variable);
  }

  /** True when a policy established who the client is. */
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
    case "extauthz":
    case "extproc":
    case "metadata":
      return importedType(VARIABLES, "PolicyVariable");
    default:
      return importedType(VARIABLES, `${capitalized(variable)}Variable`);
  }
}
