import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, Printable } from "../../code/hole.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { bytes, milliseconds } from "../../code/units.ts";
import type { BackendScope } from "../backend.ts";
import { choiceByModel, choiceOfCalls, choiceOfSettings } from "./choices.ts";
import type { AiFunctions } from "./functions.ts";
import { providerReference } from "./providers.ts";
import { type AskedType, formatExport, routeTypeCodes } from "./route-types.ts";
import { targetCode, targetSettings } from "./targets.ts";

const LLM = "gwc/runtime/llm";

type AiNode = BackendNode<"ai">;
type ProviderNode = AiNode["groups"][number][number];
type Groups = readonly (readonly ProviderNode[])[];

/** How the requests of one route type are served. */
export interface ServiceCode {
  /** The constants and functions of the module. */
  readonly declarations: readonly Code[];
  /** Whether providers are asked at all. */
  readonly asksProviders: boolean;
  /** The statement for the requests under a path; the empty one is every path. */
  readonly statement: (path: string) => Code;
}

/** The code that serves a route type. */
export function serviceCode(
  type: RouteType,
  node: AiNode,
  functions: AiFunctions,
  scope: BackendScope,
): ServiceCode {
  const { asked } = routeTypeCodes[type];
  if (asked !== undefined) return askedCode(type, asked, node, functions, scope);
  switch (type) {
    case "Models":
      return modelsCode(node, scope);
    case "Realtime":
      return realtimeCode(node, functions, scope);
    default:
      return passthroughCode(node, scope);
  }
}

function askedCode(
  type: RouteType,
  asked: AskedType,
  node: AiNode,
  functions: AiFunctions,
  { trace, maxBufferSize, limits }: BackendScope,
): ServiceCode {
  const groups = servingGroups(type, node.groups);
  if (groups.length === 0 || !countsAll(type, node)) return estimateCode(maxBufferSize);
  const { service, errors = "completions" } = routeTypeCodes[type];
  const id = name(service);
  const targetsOf = (group: readonly ProviderNode[]): readonly Code[] =>
    group.map((each) => targetCode(type, asked, each, functions));
  const byModel = node.served?.flatMap((model, index) => {
    const [group] = servingGroups(type, [node.groups[index] ?? []]);
    return group === undefined ? [] : [{ model, targets: targetsOf(group) }];
  });
  const { declarations, choice } =
    byModel === undefined
      ? { declarations: [], choice: choiceOfCalls(groups.map(targetsOf)) }
      : choiceByModel(service.replace("Service", ""), byModel, node.origin, trace);
  const settings = {
    errors: formatExport(errors, "errors", "Errors"),
    operation: asked.operation,
    limit: bytes(maxBufferSize),
    targets: choice,
    texts: groups.flat().some(({ guard }) => guard !== undefined)
      ? formatExport(asked.texts, "texts", "Texts")
      : undefined,
    expectsTokens: groups.flat().some(({ expectsTokens }) => expectsTokens) || undefined,
    keepAlive: asked.operation === "chat" ? milliseconds(node.streamKeepAlive) : undefined,
    timeout: limits.request && milliseconds(limits.request),
    attemptTimeout: limits.attempt && milliseconds(limits.attempt),
    providerHeader: providerHeader(node),
  };
  if (type === "Responses") {
    const room = `${LLM}/responses`;
    const keeper = keeperCode(node, functions);
    return {
      asksProviders: true,
      declarations: [
        ...declarations,
        code`
        ${trace(node.origin)}
        const ${id}: ${importedType(room, "ResponsesService")} = ${literal({ ...settings, keeper })};
      `,
      ],
      statement: (path) =>
        code`return ${imported(room, "serveResponses")}(exchange, ${id}, ${literal(path || "/responses")});`,
    };
  }
  const room = `${LLM}/serve`;
  return {
    asksProviders: true,
    declarations: [
      ...declarations,
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(room, "ChatService")} = ${literal(settings)};
    `,
    ],
    statement: () => code`return ${imported(room, "serveChat")}(exchange, ${id});`,
  };
}

/** The groups with those of their providers that serve a route type: tokens are counted by some alone. */
function servingGroups(type: RouteType, groups: Groups): Groups {
  return groups
    .map((group) => group.filter(({ endpoints }) => endpoints[type] !== undefined))
    .filter((group) => group.length > 0);
}

/** Of the models of a front door the tokens of all are counted by their providers, or of none. */
function countsAll(type: RouteType, { served, groups }: AiNode): boolean {
  if (type !== "TokenCount" || served === undefined) return true;
  return groups.flat().every(({ endpoints }) => endpoints.TokenCount !== undefined);
}

function estimateCode(maxBufferSize: number): ServiceCode {
  const serve = imported(`${LLM}/token-count`, "serveTokenEstimate");
  return {
    asksProviders: false,
    declarations: [],
    statement: () => code`return ${serve}(exchange, ${bytes(maxBufferSize)});`,
  };
}

/** The first provider that has the Responses API itself. */
function keeperCode({ groups }: AiNode, functions: AiFunctions): Printable | undefined {
  const keeper = groups.flat().find(({ endpoints }) => endpoints.Responses?.format === "responses");
  return keeper && targetSettings("Responses", keeper, functions);
}

function modelsCode({ models, origin }: AiNode, { trace }: BackendScope): ServiceCode {
  const list = name(routeTypeCodes.Models.service);
  const room = `${LLM}/models`;
  const serve = imported(room, "serveModels");
  return {
    asksProviders: false,
    declarations: [
      code`
      ${trace(origin)}
      const ${list}: readonly ${importedType(room, "ListedModel")}[] = ${literal(models.map((each) => ({ ...each })))};
    `,
    ],
    statement: (path) => code`return ${serve}(exchange, ${list}, ${literal(path || "/models")});`,
  };
}

function realtimeCode(node: AiNode, functions: AiFunctions, { trace }: BackendScope): ServiceCode {
  const id = name(routeTypeCodes.Realtime.service);
  const room = `${LLM}/realtime`;
  const targets = node.groups.map((group) =>
    group.map((each) => targetSettings("Realtime", each, functions)),
  );
  const settings = { targets: choiceOfSettings(targets), providerHeader: providerHeader(node) };
  return {
    asksProviders: true,
    declarations: [
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(room, "RealtimeService")} = ${literal(settings)};
    `,
    ],
    statement: () => code`return ${imported(room, "serveRealtime")}(exchange, ${id});`,
  };
}

function passthroughCode(node: AiNode, { trace, limits }: BackendScope): ServiceCode {
  const id = name(routeTypeCodes.Passthrough.service);
  const room = `${LLM}/pass-through`;
  const targets = node.groups.map((group) =>
    group.map((each) => ({ provider: providerReference(each), path: each.path })),
  );
  const settings = {
    targets: choiceOfSettings(targets),
    timeout: limits.request && milliseconds(limits.request),
    providerHeader: providerHeader(node),
  };
  return {
    asksProviders: true,
    declarations: [
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(room, "PassService")} = ${literal(settings)};
    `,
    ],
    statement: () => code`return ${imported(room, "passRequest")}(exchange, ${id});`,
  };
}

function providerHeader({ namesProvider }: AiNode): string | undefined {
  return namesProvider ? "x-llm-provider" : undefined;
}
