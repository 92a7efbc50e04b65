import { code, join } from "./code.ts";
import type { Code } from "./hole.ts";
import { imported, name } from "./names.ts";

const VALUES = "gwc/runtime/telemetry/logs/log-values";

/** Declares the variables that expressions of telemetry read, in a function with a parameter `request`. */
export function logVariables(variables: readonly string[]): readonly Code[] {
  const made: Readonly<Record<string, Code>> = {
    response: code`const response = new ${imported(VALUES, "FinalResponse")}(request, status);`,
    mcp: code`const mcp = ${imported(VALUES, "mcpMessage")}(request);`,
    backend: code`const backend = ${imported(VALUES, "calledBackend")}(request);`,
    env: code`const { env } = request.gateway;`,
  };
  const noted = variables.filter((each) => each !== "request" && made[each] === undefined);
  return [
    ...variables.flatMap((each) => made[each] ?? []),
    ...(noted.length === 0
      ? []
      : [
          code`const { ${join(
            noted.map((each) => name(each)),
            ", ",
          )} } = request.attributes;`,
        ]),
  ];
}

/** Names that such functions declare; imports must not use them. */
export const LOG_NAMES: readonly string[] = [
  ...["excludedFields", "line", "request", "status", "duration", "record"],
  ...["response", "mcp", "backend", "env", "jwt", "apiKey", "basicAuth", "extauthz", "extproc"],
  ...["metadata", "custom", "llm"],
];
