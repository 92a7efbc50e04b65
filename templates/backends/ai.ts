import type { BackendNode } from "../../compiler/ir/backends.ts";
import type { RouteType } from "../../compiler/model/llm-policies.ts";
import { code } from "../code/code.ts";
import type { Code, Expression, Hole } from "../code/hole.ts";
import { imported, name } from "../code/names.ts";
import { ifStatement } from "../code/statements.ts";
import { call, member, value } from "../code/syntax.ts";
import { AiFunctions } from "./ai/functions.ts";
import { guardReads } from "./ai/guards.ts";
import { providersCode } from "./ai/providers.ts";
import { formatExport, routeTypeCodes } from "./ai/route-types.ts";
import type { ServiceCode } from "./ai/service-settings.ts";
import { serviceCode } from "./ai/services.ts";
import { givesIds } from "./ai/stored.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { passthrough } from "./parts/connection.ts";

type AiNode = BackendNode<"ai">;
type PathNode = AiNode["routes"][number];

/** Models of providers, each of which may have its own format. */
export const aiTemplate: BackendTemplate<"ai"> = {
  code: aiCode,
  reads: ({ groups, conditions }) => [
    ...groups
      .flat()
      .flatMap(({ guard, transforms, finalTransforms, cache }) => [
        ...(cache ? (cache.scope?.variables ?? ["jwt"]) : []),
        ...(guard ? guardReads(guard) : []),
        ...[...(transforms?.fields ?? []), ...(finalTransforms?.fields ?? [])].flatMap(
          ({ value: made }) => made.variables,
        ),
      ]),
    ...conditions
      .flatMap((each) => each?.rules ?? [])
      .flatMap(({ expression }) => expression.variables),
  ],
  seals: (node) => (node.routes.some(({ type }) => givesIds(type, node)) ? "ids" : undefined),
  keepsLimits: true,
  spendsTokens: true,
};

function aiCode([node]: AtLeastOne<AiNode>, scope: BackendScope): BackendCode {
  const functions = new AiFunctions(node, scope);
  const all = [...new Set(node.routes.map(({ type }) => type))];
  const isStored = (type: RouteType): boolean => routeTypeCodes[type].serve !== undefined;
  // Batches refer to the services of their requests.
  const types = [...all.filter((type) => !isStored(type)), ...all.filter(isStored)];
  const providers = providersCode(node, scope, functions);
  const services = new Map(
    types.map((type) => [type, serviceCode(type, node, functions, scope)] as const),
  );
  const asksProviders = [...services.values()].some((service) => service.asksProviders);
  const keepsTries = [...services.values()].some((service) => service.keepsTries);
  const declared = [...services.values()].flatMap(({ declarations }) => declarations);
  const token = passthrough(node.groups.flat().map(({ connection }) => connection));
  return {
    declarations: [
      ...((keepsTries && scope.tries?.declarations) || []),
      ...(asksProviders ? [providers] : []),
      ...functions.declarations,
      ...declared,
    ],
    first: refusalFormats(node),
    guard: [],
    step: [...token, ...serveSteps(node, services)],
    isAsync: false,
    mayWait: true,
  };
}

/** Sets the format of refusals by the path of the request. */
function refusalFormats({ routes }: AiNode): readonly Hole[] {
  const known = routes.filter(({ type }) => refusalOf(type) !== undefined);
  // The shortest path is first; later statements for longer ones overwrite it.
  const [first, ...others] = known.toReversed();
  if (first === undefined) return [];
  const passes = routes.some(({ suffix, type }) => suffix === "" && type === "Passthrough");
  if (passes)
    return [first, ...others].map((each) => ifStatement(isFor(each, routes), refuseAs(each)));
  const rest = others.filter((each, at) => !isImplied(each, [first, ...others.slice(0, at)]));
  return [refuseAs(first), ...rest.map((each) => ifStatement(isFor(each, routes), refuseAs(each)))];
}

/**
 * Returns whether earlier statements already set a path's format: the first one, which applies to every path, and those of
 * shorter paths that may match.
 */
function isImplied(node: PathNode, [first, ...shorter]: AtLeastOne<PathNode>): boolean {
  const isAlike = (other: PathNode): boolean => refusalOf(other.type) === refusalOf(node.type);
  return isAlike(first) && shorter.every((other) => isAlike(other) || !mayBeBoth(other, node));
}

/** Returns whether a path may match both. */
function mayBeBoth(shorter: PathNode, longer: PathNode): boolean {
  const hasParts = [shorter, longer].some(({ type }) => routeTypeCodes[type].hasParts === true);
  return hasParts || longer.suffix.endsWith(shorter.suffix);
}

/** Returns the format of refusals of a route type; OpenAI's APIs share one form of errors. */
function refusalOf(
  type: RouteType,
): "completions" | "messages" | "generateContent" | "converse" | undefined {
  const { errors } = routeTypeCodes[type];
  return errors === "responses" ? "completions" : errors;
}

function refuseAs({ type }: PathNode): Code {
  const format = refusalOf(type) ?? "completions";
  return code`exchange.refusalFormat = ${formatExport(format, "errors", "Refusal")};`;
}

function serveSteps(
  { routes }: AiNode,
  services: ReadonlyMap<RouteType, ServiceCode>,
): readonly Hole[] {
  const steps = routes.flatMap((each): readonly Hole[] => {
    const statement = services.get(each.type)?.statement(each.suffix);
    if (statement === undefined) return [];
    return [each.suffix === "" ? statement : ifStatement(isFor(each, routes), statement)];
  });
  const isOpen = routes.some(({ suffix }) => suffix === "");
  return isOpen
    ? steps
    : [...steps, code`return ${imported("gwc/runtime/http/refuse", "notFound")}(exchange);`];
}

/** Returns the conditions under which a request is one of a route type. */
function isFor(node: PathNode, routes: AiNode["routes"]): readonly Expression[] {
  const isAt = isAtPath(node);
  const isShared = routes.some(({ suffix, type }) => suffix === node.suffix && type !== node.type);
  if (!isShared || refusalOf(node.type) !== "messages") return [isAt];
  const isClient = imported("gwc/runtime/llm/calls/anthropic-client", "isAnthropicClient");
  return [isAt, call(isClient, [name("exchange")])];
}

function isAtPath({ suffix, type }: PathNode): Expression {
  const path = member(name("exchange"), "path");
  return routeTypeCodes[type].hasParts === true
    ? call(imported("gwc/runtime/llm/path-rest", "isOfApi"), [path, value(suffix)])
    : call(member(path, "endsWith"), [value(suffix)]);
}
