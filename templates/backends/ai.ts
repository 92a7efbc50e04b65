import type { BackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { bytes, milliseconds } from "../code/units.ts";
import { AiFunctions } from "./ai/functions.ts";
import { providersCode } from "./ai/providers.ts";
import { type ClientType, clientModule, errorsOf, refusalOf, targetCode } from "./ai/targets.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { passthrough } from "./parts/connection.ts";

const SERVE = "gwc/runtime/llm/serve";
const CHOOSE = "gwc/runtime/llm/calls/choose-target";

type AiNode = BackendNode<"ai">;

/** Models of providers, which speak formats of their own. */
export const aiTemplate: BackendTemplate<"ai"> = { code: aiCode, keepsLimits: true };

function aiCode([node]: AtLeastOne<AiNode>, scope: BackendScope): BackendCode {
  const functions = new AiFunctions(scope.trace, scope.expressions);
  const types = [...new Set(node.routes.map(({ type }) => type))].filter(isClientType);
  const providers = providersCode(node, scope.trace, functions);
  const services = types.map((type) => serviceCode(type, node, functions, scope));
  const token = passthrough(node.groups.flat().map(({ connection }) => connection));
  return {
    declarations: [providers, ...functions.declarations, ...services],
    first: refusalFormats(node),
    guard: [],
    step: [...token, ...serveSteps(node)],
    isAsync: true,
  };
}

function isClientType(type: string): type is ClientType {
  return type === "Completions" || type === "Messages";
}

function serviceName(type: ClientType): Code {
  return code`${name(`${clientModule(type)}Service`)}`;
}

function serviceCode(
  type: ClientType,
  node: AiNode,
  functions: AiFunctions,
  { trace, maxBufferSize, limits }: BackendScope,
): Code {
  const groups = node.groups.map((group) =>
    group.map((provider) => targetCode(type, provider, functions)),
  );
  const [[only] = [], ...others] = groups;
  const isOne = only !== undefined && others.length === 0 && groups[0]?.length === 1;
  const targets = isOne
    ? code`${imported(CHOOSE, "oneTarget")}(${only})`
    : code`${imported(CHOOSE, "inGroups")}(${literal(groups)})`;
  const settings = {
    errors: errorsOf(type),
    operation: "chat",
    limit: bytes(maxBufferSize),
    targets,
    providerHeader: node.namesProvider ? "x-llm-provider" : undefined,
    timeout: limits.request && milliseconds(limits.request),
    attemptTimeout: limits.attempt && milliseconds(limits.attempt),
  };
  return code`
    ${trace(node.origin)}
    const ${serviceName(type)}: ${importedType(SERVE, "ChatService")} = ${literal(settings)};
  `;
}

/** Every refusal is in the format of the path that it is about. */
function refusalFormats({ routes }: AiNode): readonly Code[] {
  const formats = routes.flatMap(({ suffix, type }) =>
    isClientType(type) ? [{ suffix, format: refusalOf(type), type }] : [],
  );
  const last = formats.at(-1);
  if (last === undefined) return [];
  const others = formats.filter(({ type }) => type !== last.type).toReversed();
  return [
    code`exchange.refusalFormat = ${last.format};`,
    ...others.map(
      ({ suffix, format }) => code`
        if (exchange.path.endsWith(${literal(suffix)})) exchange.refusalFormat = ${format};
      `,
    ),
  ];
}

function serveSteps({ routes }: AiNode): readonly Code[] {
  const serve = imported(SERVE, "serveChat");
  const steps = routes.flatMap(({ suffix, type }) => {
    if (!isClientType(type)) return [];
    const call = code`return ${serve}(exchange, ${serviceName(type)});`;
    return suffix === "" ? [call] : [code`if (exchange.path.endsWith(${literal(suffix)})) ${call}`];
  });
  const isOpen = routes.some(({ suffix }) => suffix === "");
  return isOpen
    ? steps
    : [...steps, code`return ${imported("gwc/runtime/http/refuse", "notFound")}(exchange);`];
}
