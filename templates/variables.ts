import { type Code, code, type ImportSymbol, importedType, name } from "./code.ts";

const VARIABLES = "gwc/runtime/cel/variables";

/** A CEL variable as a parameter of an emitted function: `jwt: JwtVariable`. */
export function parameter(variable: string): Code {
  return code`${name(variable)}: ${typeOf(variable)}`;
}

/** What a route's function passes for a CEL variable; an identity that no policy before established is null. */
export function argument(variable: string, declared: ReadonlySet<string>): Code {
  if (variable === "request") return code`exchange`;
  if (variable === "env") return code`exchange.gateway.env`;
  return declared.has(variable) ? code`${name(variable)}` : code`null`;
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
      return importedType(
        VARIABLES,
        `${variable.charAt(0).toUpperCase()}${variable.slice(1)}Variable`,
      );
  }
}
