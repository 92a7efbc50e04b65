import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import { code, literal } from "../../code/code.ts";
import type { ImportSymbol, Printable } from "../../code/hole.ts";
import { returned } from "../../code/layout.ts";
import { imported, importedType, name } from "../../code/names.ts";
import { call, value } from "../../code/syntax.ts";
import { bytes } from "../../code/units.ts";
import type { BackendScope } from "../backend.ts";
import type { AiFunctions } from "./functions.ts";
import { providerReference } from "./providers.ts";
import { formatExport, routeTypeCodes } from "./route-types.ts";
import { onlyTimeout, providerHeader, type ServiceCode } from "./service-settings.ts";

type AiNode = BackendNode<"ai">;
type ProviderNode = AiNode["groups"][number][number];
type StoredKind = NonNullable<(typeof routeTypeCodes)[RouteType]["serve"]>;

/** Functions that serve stored objects, with their modules. */
const SERVERS: Readonly<Record<StoredKind, readonly [module: string, name: string]>> = {
  files: ["files", "serveFiles"],
  messageFiles: ["message-files", "serveMessageFiles"],
  batches: ["batches", "serveBatches"],
  messageBatches: ["message-batches", "serveMessageBatches"],
  containers: ["containers", "serveContainers"],
};

/** Paths of the APIs, if any path is one of them. */
const PATHS: Readonly<Record<StoredKind, string>> = {
  files: "/files",
  messageFiles: "/files",
  batches: "/batches",
  messageBatches: "/messages/batches",
  containers: "/containers",
};

/** Writes the service of files or batches that providers store. */
export function storedCode(
  type: RouteType,
  kind: StoredKind,
  node: AiNode,
  functions: AiFunctions,
  { trace, limits, maxBufferSize }: BackendScope,
): ServiceCode {
  const { service, errors = "completions" } = routeTypeCodes[type];
  const id = name(service);
  const room = "gwc/runtime/llm/stored";
  const all = node.groups.flat();
  const stores = all.flatMap((each) => {
    const path = each.endpoints[type]?.path;
    if (path === undefined) return [];
    return [{ provider: providerReference(each), path, guards: guardsOf(each, all, functions) }];
  });
  const { requests = [] } = node.batched.find((each) => each.type === type) ?? {};
  const endpoints = requests.map((each) => [each.path, name(routeTypeCodes[each.type].service)]);
  const settings = {
    stores,
    format: formatExport(errors, "native", "Native"),
    endpoints: Object.fromEntries(endpoints),
    limit: bytes(maxBufferSize),
    ...onlyTimeout(limits),
    providerHeader: providerHeader(node),
    ids: idsOf(type, node),
  };
  const [module, serve] = SERVERS[kind];
  return {
    asksProviders: true,
    keepsTries: false,
    declarations: [
      code`
      ${trace(node.origin)}
      const ${id}: ${importedType(`${room}/object-store`, "StoreService")} = ${literal(settings)};
    `,
    ],
    statement: (path) => {
      const args = [name("exchange"), id, value(path || PATHS[kind])];
      return returned(call(imported(`${room}/${module}`, serve), args));
    },
  };
}

/** Ids in requests and responses of an API, by the type of its traffic, if the route serves the objects. */
const IDS: { readonly [Type in RouteType]?: readonly [stored: readonly RouteType[], ids: string] } =
  {
    Completions: [["Files"], "OPENAI_FILES"],
    ImageEdits: [["Files"], "OPENAI_FILES"],
    Responses: [["Files", "Containers"], "OPENAI_OBJECTS"],
    Files: [["Files"], "OPENAI_OBJECTS"],
    Containers: [["Containers"], "OPENAI_OBJECTS"],
    Messages: [["MessageFiles"], "ANTHROPIC_OBJECTS"],
    TokenCount: [["MessageFiles"], "ANTHROPIC_OBJECTS"],
    MessageBatches: [["MessageFiles"], "ANTHROPIC_OBJECTS"],
  };

/** Returns the ids in requests and responses of an API that belong to callers; `undefined` if there are none. */
export function idsOf(
  type: RouteType,
  { batched, ownsResponses }: AiNode,
): ImportSymbol | undefined {
  const [stored, ids] = IDS[type] ?? [];
  const isServed = batched.some((each) => stored?.includes(each.type));
  const room = "gwc/runtime/llm/stored/vendor-ids";
  if (ids !== undefined && isServed) return imported(room, ids);
  return type === "Responses" && ownsResponses ? imported(room, "OPENAI_RESPONSES") : undefined;
}

/** Whether callers get ids of stored objects by an API. */
export function givesIds(type: RouteType, node: AiNode): boolean {
  return routeTypeCodes[type].serve !== undefined || idsOf(type, node) !== undefined;
}

/** Returns the guards of all models at a provider, which stores their responses together; `undefined` if there are none. */
function guardsOf(
  node: ProviderNode,
  all: readonly ProviderNode[],
  functions: AiFunctions,
): readonly Printable[] | undefined {
  const { url } = node;
  const same = all.filter((each) => JSON.stringify(each.url) === JSON.stringify(url));
  const guards = new Map(
    same.flatMap((each) => {
      const guard = functions.guard(each);
      return guard === undefined ? [] : [[guard.text, guard] as const];
    }),
  );
  return guards.size === 0 ? undefined : [...guards.values()];
}
