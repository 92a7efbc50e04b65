import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, Name } from "../../code/hole.ts";
import { imported, importedType } from "../../code/names.ts";
import { call, objectExpression, value } from "../../code/syntax.ts";

const GUARDS = "gwc/runtime/llm/guards";

type GuardsNode = NonNullable<BackendNode<"ai">["groups"][number][number]["guard"]>;
type GuardNode = GuardsNode["request"][number];
type PatternNode = GuardNode["patterns"][number];

/** The constant with what guards the requests and responses of providers. */
export function promptGuardCode(id: Name, { request, response }: GuardsNode): Code {
  const settings = { request: request.map(guardCode), response: response.map(guardCode) };
  const type = importedType(`${GUARDS}/prompt-guard`, "PromptGuard");
  return code`const ${id}: ${type} = ${literal(settings)};`;
}

function guardCode({ patterns, rejection }: GuardNode): Code {
  const module = `${GUARDS}/regex-guard`;
  const list = literal(patterns.map(patternCode));
  if (rejection === undefined) return code`${imported(module, "maskPatterns")}(${list})`;
  const { status, message, own } = rejection;
  const settings = objectExpression([
    ["status", value(status)],
    ["message", value(message)],
    ...(own === undefined ? [] : [["own", literal(own)] as const]),
  ]);
  return code`${call(imported(module, "rejectPatterns"), [list, settings])}`;
}

function patternCode(node: PatternNode): Code {
  if (node.kind === "named") {
    return code`${call(imported(`${GUARDS}/named-patterns`, node.name), [])}`;
  }
  const open = imported(`${GUARDS}/regex-guard`, "guardPattern");
  return code`${call(open, [literal(node.pattern), literal(node.longest)])}`;
}
