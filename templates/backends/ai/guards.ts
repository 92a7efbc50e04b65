import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import { headerList } from "../../code/header-list.ts";
import type { Code, Name, Printable } from "../../code/hole.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { arrow, binary, call, objectExpression, value } from "../../code/syntax.ts";
import { milliseconds } from "../../code/units.ts";
import { upstreamCode } from "../parts/connection.ts";
import { askedInput } from "./asked-input.ts";
import { keyCode } from "./key-code.ts";

const GUARDS = "gwc/runtime/llm/guards";

type GuardsNode = NonNullable<BackendNode<"ai">["groups"][number][number]["guard"]>;
type GuardNode = GuardsNode["request"][number];
type RegexNode = Extract<GuardNode, { kind: "regex" }>;
type ServerNode = Exclude<GuardNode, RegexNode>;
/** A guard that is a webhook. */
export type WebhookNode = Extract<GuardNode, { kind: "webhook" }>;
type PatternNode = RegexNode["patterns"][number];

/** Functions of the module around guards. */
export interface GuardFunctions {
  readonly expressions: Expressions;
  /** Returns the function that makes headers for a webhook; `undefined` if it has no headers of its own. */
  readonly headersOf: (webhook: WebhookNode) => Name | undefined;
}

/** Declares the constant with the guards of providers' requests and responses. */
export function promptGuardCode(
  id: Name,
  { request, response, guardsStreams, hooks }: GuardsNode,
  functions: GuardFunctions,
): Code {
  const own = [code`${imported(`${GUARDS}/hook-guard`, "hookGuard")}()`];
  const settings = {
    request: [...stepsCode(request, functions), ...(hooks?.request === true ? own : [])],
    response: [...stepsCode(response, functions), ...(hooks?.response === true ? own : [])],
    passesStreams: guardsStreams ? undefined : true,
  };
  const type = importedType(`${GUARDS}/prompt-guard`, "PromptGuard");
  return code`const ${id}: ${type} = ${literal(settings)};`;
}

/** Writes the function that makes the headers of a webhook's calls. */
export function webhookHeadersCode(
  id: Name,
  headers: WebhookNode["headers"],
  expressions: Expressions,
): Code {
  const variables = [...new Set(headers.flatMap(({ value: made }) => made.variables))].sort();
  const { input, declared } = askedInput(variables, WEBHOOK_CALL);
  return code`
    function ${id}(${input}): ${HEADER_VALUE}[] {
      ${declared}
      return ${headerList(headers, expressions)};
    }
  `;
}

const WEBHOOK_CALL = importedType(`${GUARDS}/webhook-guard`, "WebhookCall");
const HEADER_VALUE = importedType(
  "gwc/runtime/policies/transformations/message-changes",
  "HeaderValue",
);

/** Returns the variables that the headers of webhooks read. */
export function guardReads({ request, response }: GuardsNode): readonly string[] {
  return [...request, ...response].flatMap((guard) =>
    guard.kind === "webhook" ? guard.headers.flatMap(({ value: made }) => made.variables) : [],
  );
}

/** Passes consecutive guards with patterns together if they see the same strings. */
function stepsCode(guards: readonly GuardNode[], functions: GuardFunctions): readonly Code[] {
  const steps: Code[] = [];
  for (let at = 0; at < guards.length; ) {
    const guard = guards[at];
    if (guard === undefined) break;
    if (guard.kind !== "regex") {
      steps.push(serverGuardCode(guard, functions));
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

/** Writes a pattern. */
export function patternCode(node: PatternNode): Code {
  if (node.kind === "named") {
    return code`${call(imported(`${GUARDS}/named-patterns`, node.name), [])}`;
  }
  const open = imported(`${GUARDS}/pattern-guard`, "guardPattern");
  return code`${call(open, [literal(node.pattern), literal(node.longest)])}`;
}

function serverGuardCode(node: ServerNode, { expressions, headersOf }: GuardFunctions): Code {
  const { target, scope, window, passesOnFailure, rejection } = node;
  const common = {
    server: serverCode(node),
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
  const make = (
    file: string,
    open: string,
    own: Readonly<Record<string, Printable | undefined>>,
  ): Code => code`${imported(`${GUARDS}/${file}`, open)}(${literal({ ...own, ...common })})`;
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
      return make("webhook-guard", "webhookGuard", { forwardHeaders, headers: headersOf(node) });
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
    case "azureContentSafety": {
      const { analysis, shieldVersion } = node;
      const settings = analysis && { ...analysis, blocklistNames: [...analysis.blocklistNames] };
      return make("azure-guard", "azureGuard", { analysis: settings, shieldVersion });
    }
  }
}

/** Writes the connection to a guard's server, and its credentials. */
function serverCode(node: ServerNode): Code {
  const { url, connection } = node.target;
  const key = node.kind === "azureContentSafety" ? node.key : undefined;
  const credential = key && keyCode({ header: "ocp-apim-subscription-key", value: key });
  return upstreamCode(url, connection, credential);
}
