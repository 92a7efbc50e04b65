import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { type SecretContext, withoutLiteral } from "../../model/literal-secrets.ts";
import type { EnvTemplate, Text } from "../../model/texts.ts";
import type { McpCommand } from "./mcp-config.ts";

/** Environment variables that hold secrets by convention. */
const SECRET_VARIABLE =
  /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY/i;

/** Endings of options, variables and headers whose value is a secret; `--max-tokens` and `--token-file` are not. */
const SECRET_NAME =
  /(?:^|[-_])(?:token|secret|password|passwd|credentials?|api[-_]?key|private[-_]?key|access[-_]?key|authorization)$/i;

/** Matches the name in `--api-key=VALUE`, `GITHUB_TOKEN=VALUE` and `Authorization: VALUE`, up to the value. */
const NAMED_VALUE = /^-{0,2}([\w-]+)(?:=|:\s*)(?=\S)/;

/**
 * Replaces literal credentials in a command's environment and arguments by variables, which warnings name;
 * `origin` is that of `stdio`.
 */
export function withoutCredentials(
  { args, env, ...rest }: McpCommand,
  origin: Origin,
  context: SecretContext,
): McpCommand {
  const variables = Object.entries(env).map(([name, value]) => {
    const at = childOf(origin, "env", name);
    const field = { field: `"${name}"` };
    return [name, SECRET_VARIABLE.test(name) ? withoutLiteral(value, at, field, context) : value];
  });
  return {
    ...rest,
    args: args.map((arg, index) => plainArgument(arg, args[index - 1], index, origin, context)),
    env: Object.fromEntries(variables),
  };
}

/** Returns an argument without the credential that it contains, or that the option before it announces. */
function plainArgument(
  arg: Text,
  before: Text | undefined,
  index: number,
  origin: Origin,
  context: SecretContext,
): Text {
  if (typeof arg !== "string") return arg;
  const [start = "", own = ""] = NAMED_VALUE.exec(arg) ?? [];
  const option = typeof before === "string" ? (/^--?([\w-]+)$/.exec(before)?.[1] ?? "") : "";
  const isNamed = SECRET_NAME.test(own);
  if (!isNamed && (!SECRET_NAME.test(option) || arg.startsWith("-"))) return arg;
  const prefix = isNamed ? start : "";
  // Marks the whole list, because a report shows nothing behind a marked place.
  const marked = childOf(origin, "args");
  const field = { field: `"${isNamed ? own : option}"`, marked };
  const hidden = withoutLiteral(
    arg.slice(prefix.length),
    childOf(origin, "args", index),
    field,
    context,
  );
  return prefix === "" ? hidden : prefixed(prefix, hidden);
}

function prefixed(prefix: string, hidden: Text): EnvTemplate {
  const parts = typeof hidden === "string" ? [hidden] : hidden.parts;
  return { kind: "env", parts: [prefix, ...parts] };
}
