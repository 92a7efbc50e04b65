import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Code, Name, Printable } from "../../code/hole.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { arrow, binary, call, objectExpression, value } from "../../code/syntax.ts";
import { milliseconds } from "../../code/units.ts";
import { upstreamCode } from "../parts/connection.ts";

const GUARDS = "gwc/runtime/llm/guards";

type GuardsNode = NonNullable<BackendNode<"ai">["groups"][number][number]["guard"]>;
type GuardNode = GuardsNode["request"][number];
type RegexNode = Extract<GuardNode, { kind: "regex" }>;
type ServerNode = Exclude<GuardNode, RegexNode>;
type PatternNode = RegexNode["patterns"][number];

/** The constant with what guards the requests and responses of providers. */
export function promptGuardCode(
  id: Name,
  { request, response }: GuardsNode,
  expressions: Expressions,
): Code {
  const settings = {
    request: stepsCode(request, expressions),
    response: stepsCode(response, expressions),
  };
  const type = importedType(`${GUARDS}/prompt-guard`, "PromptGuard");
  return code`const ${id}: ${type} = ${literal(settings)};`;
}

/** Guards that look for patterns are passed together while they stand together and see the same texts. */
function stepsCode(guards: readonly GuardNode[], expressions: Expressions): readonly Code[] {
  const steps: Code[] = [];
  for (let at = 0; at < guards.length; ) {
    const guard = guards[at];
    if (guard === undefined) break;
    if (guard.kind !== "regex") {
      steps.push(serverGuardCode(guard, expressions));
      at += 1;
      continue;
    }
    const together = alike(guards.slice(at), guard);
    const open = imported(`${GUARDS}/pattern-step`, "patternGuards");
    const list = literal(together.map(patternGuardCode));
    steps.push(
      guard.scope === undefined
        ? code`${open}(${list})`
        : code`${open}(${list}, ${literal([...guard.scope])})`,
    );
    at += together.length;
  }
  return steps;
}

function alike(guards: readonly GuardNode[], { scope }: RegexNode): readonly RegexNode[] {
  const found: RegexNode[] = [];
  for (const guard of guards) {
    if (guard.kind !== "regex" || guard.scope?.join() !== scope?.join()) break;
    found.push(guard);
  }
  return found;
}

function patternGuardCode({ patterns, rejection }: RegexNode): Code {
  const module = `${GUARDS}/pattern-guard`;
  const list = literal(patterns.map(patternCode));
  if (rejection === undefined) return code`${imported(module, "maskPatterns")}(${list})`;
  const settings = objectExpression([
    ["status", value(rejection.status)],
    ["message", value(rejection.message)],
    ...(rejection.own === undefined ? [] : [["own", literal(rejection.own)] as const]),
  ]);
  return code`${call(imported(module, "rejectPatterns"), [list, settings])}`;
}

function patternCode(node: PatternNode): Code {
  if (node.kind === "named") {
    return code`${call(imported(`${GUARDS}/named-patterns`, node.name), [])}`;
  }
  const open = imported(`${GUARDS}/pattern-guard`, "guardPattern");
  return code`${call(open, [literal(node.pattern), literal(node.longest)])}`;
}

function serverGuardCode(node: ServerNode, expressions: Expressions): Code {
  const { target, scope, window, passesOnFailure, rejection } = node;
  const common = {
    server: upstreamCode(target.url, target.connection),
    deadline: milliseconds(target.deadline),
    scope: scope && [...scope],
    window,
    passesOnFailure,
    rejection: {
      status: rejection.status,
      message: rejection.message,
      own: rejection.own && { body: rejection.own.body, headers: [...rejection.own.headers] },
    },
  };
  const make = (file: string, open: string, own: Readonly<Record<string, Printable>>): Code =>
    code`${imported(`${GUARDS}/${file}`, open)}(${literal({ ...own, ...common })})`;
  switch (node.kind) {
    case "webhook": {
      const forwardHeaders = node.forwardHeaders.map((each) => ({
        name: each.name,
        matches: arrow(
          [name("value")],
          typeof each.value === "string"
            ? binary("===", [name("value"), literal(each.value)])
            : expressions.use(each.value),
        ),
      }));
      return make("webhook-guard", "webhookGuard", { forwardHeaders });
    }
    case "openAIModeration":
      return make("moderation-guard", "moderationGuard", { model: node.model });
    case "bedrockGuardrails": {
      const { identifier, version } = node;
      return make("bedrock-guard", "bedrockGuard", { identifier, version });
    }
    case "googleModelArmor": {
      const { template, project, location } = node;
      return make("model-armor-guard", "modelArmorGuard", { template, project, location });
    }
  }
}
