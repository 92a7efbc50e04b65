import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, Expression, Printable } from "../../code/hole.ts";
import { returned } from "../../code/layout.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { call, value } from "../../code/syntax.ts";
import { bytes, milliseconds } from "../../code/units.ts";
import type { BackendScope } from "../backend.ts";
import { choiceByModel, choiceOfCalls, choiceOfSettings, noChoice } from "./choices.ts";
import type { AiFunctions } from "./functions.ts";
import { ServedModels, virtualChoices } from "./model-choices.ts";
import { providerReference } from "./providers.ts";
import { type AskedType, formatExport, routeTypeCodes } from "./route-types.ts";
import { onlyTimeout, providerHeader, type ServiceCode, timeouts } from "./service-settings.ts";
import { idsOf, storedCode } from "./stored.ts";
import { targetCode, targetSettings } from "./targets.ts";

const LLM = "gwc/runtime/llm";

type AiNode = BackendNode<"ai">;
type ProviderNode = AiNode["groups"][number][number];
type Groups = readonly (readonly ProviderNode[])[];

/** Writes the code that serves a route type. */
export function serviceCode(
  type: RouteType,
  node: AiNode,
  functions: AiFunctions,
  scope: BackendScope,
): ServiceCode {
  const { asked, serve } = routeTypeCodes[type];
  if (serve !== undefined) return storedCode(type, serve, node, functions, scope);
  if (asked !== undefined) return askedCode(type, asked, node, functions, scope);
  switch (type) {
    case "Models":
      return modelsCode(node, functions, scope);
    case "Usage":
      return OWN_USAGE;
    case "Realtime":
      return realtimeCode(node, functions, scope);
    default:
      return passthroughCode(node, functions, scope);
  }
}

/** Adds the ids of stored objects to a target, if its requests may name them. */
function withIds(type: RouteType, node: AiNode, target: Code): Code {
  const ids = idsOf(type, node);
  if (ids === undefined) return target;
  return code`${call(imported(`${LLM}/stored/own-ids`, "withOwnIds"), [target, ids])}`;
}

function askedCode(
  type: RouteType,
  asked: AskedType,
  node: AiNode,
  functions: AiFunctions,
  { trace, maxBufferSize, limits, tries, capturesMessages }: BackendScope,
): ServiceCode {
  const groups = servingGroups(type, node.groups);
  const asksProviders = isSome(groups);
  const { service, errors = "completions" } = routeTypeCodes[type];
  const id = name(service);
  const targetsOf = (group: readonly ProviderNode[]): readonly Code[] =>
    group.map((each) => withIds(type, node, targetCode(type, asked, each, functions)));
  const targetsOfModel = (index: number): readonly Code[] =>
    servingGroups(type, [node.groups[index] ?? []]).flatMap(targetsOf);
  const isServed = (group: number): boolean => isSome(targetsOfModel(group));
  const unserved = unservedModels(node, isServed);
  const unasked = asked.estimate === undefined ? [] : unserved;
  const virtual = node.virtualModels.filter((each) => !unasked.includes(each.name));
  const models = new ServedModels(node, targetsOfModel, functions);
  const byModel = node.served && [
    ...[...new Set(node.served)].flatMap((model) =>
      node.internal.includes(model) ? [] : (models.choice(model) ?? []),
    ),
    ...virtualChoices(virtual, models, functions),
    ...unasked.map((model) => ({ model })),
  ];
  const always = asksProviders ? choiceOfCalls(groups.map(targetsOf)) : noChoice();
  const { declarations, choice } =
    byModel === undefined
      ? { declarations: [], choice: always }
      : choiceByModel(service.replace("Service", ""), byModel, node.origin, trace);
  const called = asksProviders && {
    texts: groups.flat().some(({ guard }) => guard !== undefined)
      ? formatExport(asked.texts, "texts", "Texts")
      : undefined,
    messages:
      capturesMessages && asked.operation === "chat"
        ? formatExport(errors, "capture", "Capture")
        : undefined,
    expectsTokens: groups.flat().some(({ expectsTokens }) => expectsTokens) || undefined,
    keepAlive: asked.streams === true ? milliseconds(node.streamKeepAlive) : undefined,
    ...timeouts(limits),
    providerHeader: providerHeader(node),
  };
  const estimates = !asksProviders || isSome(unasked);
  const settings = {
    errors: formatExport(errors, "errors", "Errors"),
    operation: asked.operation,
    limit: bytes(maxBufferSize),
    targets: choice,
    unserved: isSome(unasked) || !isSome(unserved) ? undefined : [...unserved],
    readCall: asked.readCall,
    ...called,
    estimate: estimates ? asked.estimate : undefined,
  };
  if (type === "Responses") {
    const room = `${LLM}/responses`;
    const more = { stores: storesCode(node, functions), ids: idsOf(type, node) };
    return {
      asksProviders: true,
      keepsTries: true,
      declarations: [
        ...declarations,
        code`
        ${trace(node.origin)}
        const ${id}: ${importedType(room, "ResponsesService")} = ${literal({ ...settings, ...more })};
      `,
      ],
      statement: (path) => {
        const args = [name("exchange"), id, value(path || "/responses"), ...argumentOf(tries)];
        return returned(call(imported(room, "serveResponses"), args));
      },
    };
  }
  const room = `${LLM}/serve`;
  const args = [name("exchange"), id, ...(asksProviders ? argumentOf(tries) : [])];
  return {
    asksProviders,
    keepsTries: asksProviders,
    declarations: [
      ...declarations,
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(`${LLM}/calls/chat-service`, "ChatService")} = ${literal(settings)};
    `,
    ],
    statement: () => returned(call(imported(room, "serveChat"), args)),
  };
}

/** Returns the groups with only the providers that serve a route type; for example, few providers count tokens. */
function servingGroups(type: RouteType, groups: Groups): Groups {
  return groups
    .map((group) => group.filter(({ endpoints }) => endpoints[type] !== undefined))
    .filter((group) => group.length > 0);
}

/** Returns the models of a front door without a target; for a virtual model, its first targets count. */
function unservedModels(
  { served = [], internal, virtualModels }: AiNode,
  isServed: (group: number) => boolean,
): readonly string[] {
  const virtual = virtualModels.filter(({ routing }) => {
    const first = routing.kind === "failover" ? (routing.tiers[0] ?? []) : routing.targets;
    return !first.every(({ group }) => isServed(group));
  });
  const isAsked = (name: string): boolean =>
    served.some((each, group) => each === name && isServed(group));
  const own = [...new Set(served)].filter((name) => !internal.includes(name) && !isAsked(name));
  return [...own, ...virtual.map((each) => each.name)];
}

function isSome(list: readonly unknown[]): boolean {
  return list.length > 0;
}

/** Returns the providers that have the Responses API. Models that not everybody may use have no open store. */
function storesCode(node: AiNode, functions: AiFunctions): readonly Printable[] {
  const { groups, conditions } = node;
  const stores = groups.flatMap((group, index) => {
    const isOpen = (conditions[index]?.rules.length ?? 0) === 0 || undefined;
    return group
      .filter(({ endpoints }) => endpoints.Responses?.format === "responses")
      .map((provider) => ({ ...targetSettings("Responses", provider, functions), isOpen }));
  });
  if (idsOf("Responses", node) !== undefined) return stores;
  return stores.filter(({ isOpen }) => isOpen).slice(0, 1);
}

function modelsCode(
  { models, origin }: AiNode,
  functions: AiFunctions,
  { trace }: BackendScope,
): ServiceCode {
  const listed = models.map(({ ruledBy, ...each }) => ({
    ...each,
    rules: ruledBy?.flatMap((group) => functions.conditions(group).authorize ?? []),
  }));
  const list = name(routeTypeCodes.Models.service);
  const room = `${LLM}/models`;
  const serve = imported(room, "serveModels");
  return {
    asksProviders: false,
    keepsTries: false,
    declarations: [
      code`
      ${trace(origin)}
      const ${list}: readonly ${importedType(room, "ListedModel")}[] = ${literal(listed)};
    `,
    ],
    statement: (path) => code`return ${serve}(exchange, ${list}, ${literal(path || "/models")});`,
  };
}

const OWN_USAGE: ServiceCode = {
  asksProviders: false,
  keepsTries: false,
  declarations: [],
  statement: () => code`return ${imported(`${LLM}/own-usage`, "serveOwnUsage")}(exchange);`,
};

function realtimeCode(node: AiNode, functions: AiFunctions, { trace }: BackendScope): ServiceCode {
  const id = name(routeTypeCodes.Realtime.service);
  const room = `${LLM}/realtime`;
  const targets = node.groups.map((group) =>
    group.map((each) => targetSettings("Realtime", each, functions)),
  );
  const settings = { targets: choiceOfSettings(targets), providerHeader: providerHeader(node) };
  return {
    asksProviders: true,
    keepsTries: false,
    declarations: [
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(room, "RealtimeService")} = ${literal(settings)};
    `,
    ],
    statement: () => code`return ${imported(room, "serveRealtime")}(exchange, ${id});`,
  };
}

function passthroughCode(node: AiNode, functions: AiFunctions, scope: BackendScope): ServiceCode {
  const { served, passed, conditions } = node;
  const [only = -1, ...others] = passed;
  const isForAll = others.length === 0 && served?.[only] === "*" && conditions[only] === undefined;
  if (served !== undefined && !isForAll) return passByModelCode(node, functions, scope);
  const groups = served === undefined ? node.groups : [node.groups[only] ?? []];
  const { trace, limits, tries } = scope;
  const id = name(routeTypeCodes.Passthrough.service);
  const room = `${LLM}/pass-through`;
  const isOnce = tries === undefined && groups.flat().length === 1;
  const pass = isOnce ? "passRequest" : "passInTurn";
  const settings = {
    targets: choiceOfSettings(groups.map((group) => group.map(passedTarget))),
    ...(isOnce ? onlyTimeout(limits) : timeouts(limits)),
    providerHeader: providerHeader(node),
  };
  return {
    asksProviders: true,
    keepsTries: true,
    declarations: [
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(room, "PassService")} = ${literal(settings)};
    `,
    ],
    statement: () =>
      returned(call(imported(room, pass), [name("exchange"), id, ...argumentOf(tries)])),
  };
}

/** Writes the service of requests that pass unread to the provider of their model. */
function passByModelCode(
  node: AiNode,
  functions: AiFunctions,
  { trace, limits, maxBufferSize }: BackendScope,
): ServiceCode {
  const { service } = routeTypeCodes.Passthrough;
  const id = name(service);
  const room = `${LLM}/pass-by-model`;
  const targetsOf = (group: number): readonly Code[] =>
    node.passed.includes(group)
      ? (node.groups[group] ?? []).map((each) => code`${literal(passedTarget(each))}`)
      : [];
  const models = new ServedModels(node, targetsOf, functions);
  const { declarations, choice } = choiceByModel(
    service.replace("Service", ""),
    [...new Set(node.served)].flatMap((model) => models.choice(model) ?? []),
    node.origin,
    trace,
    importedType(`${LLM}/pass-through`, "PassTarget"),
  );
  const settings = {
    limit: bytes(maxBufferSize),
    targets: choice,
    ...onlyTimeout(limits),
    providerHeader: providerHeader(node),
  };
  return {
    asksProviders: true,
    keepsTries: false,
    declarations: [
      ...declarations,
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(room, "ModelPassService")} = ${literal(settings)};
    `,
    ],
    statement: () => returned(call(imported(room, "passByModel"), [name("exchange"), id])),
  };
}

function passedTarget({
  path,
  base,
  ...node
}: ProviderNode): Readonly<Record<string, Printable | undefined>> {
  return {
    provider: providerReference(node),
    path,
    base: path === undefined && base ? { ...base } : undefined,
  };
}

function argumentOf(tries: BackendScope["tries"]): readonly Expression[] {
  return tries === undefined ? [] : [tries.argument];
}
