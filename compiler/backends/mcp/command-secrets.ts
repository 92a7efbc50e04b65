import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { type SecretContext, withoutLiteral } from "../../model/literal-secrets.ts";
import type { EnvTemplate, Text } from "../../model/texts.ts";
import type { McpCommand } from "./mcp-config.ts";

/** Names of environment variables that hold secrets by convention. */
const SECRET_VARIABLE =
  /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY/i;

/** What ends the names of options, variables and headers whose value is a secret: `--max-tokens` and `--token-file` are none. */
const SECRET_NAME =
  /(?:^|[-_])(?:token|secret|password|passwd|credentials?|api[-_]?key|private[-_]?key|access[-_]?key|authorization)$/i;

/** `--api-key=VALUE`, `GITHUB_TOKEN=VALUE` and `Authorization: VALUE`, at the value. */
const NAMED_VALUE = /^-{0,2}([\w-]+)(?:=|:\s*)(?=\S)/;

/**
 * A command whose environment and arguments have no credentials written out: a warning names each variable that stands
 * in the place of one. `origin`: of `stdio`.
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

/** An argument without the credential that it names, or that the option before it names. */
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
  const kept = isNamed ? start : "";
  // The whole list is marked: a report shows nothing behind its mark.
  const marked = childOf(origin, "args");
  const field = { field: `"${isNamed ? own : option}"`, marked };
  const hidden = withoutLiteral(
    arg.slice(kept.length),
    childOf(origin, "args", index),
    field,
    context,
  );
  return kept === "" ? hidden : behind(kept, hidden);
}

function behind(kept: string, hidden: Text): EnvTemplate {
  const parts = typeof hidden === "string" ? [hidden] : hidden.parts;
  return { kind: "env", parts: [kept, ...parts] };
}
