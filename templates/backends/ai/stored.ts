import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import { code, literal } from "../../code/code.ts";
import type { Printable } from "../../code/hole.ts";
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
};

/** Paths of the APIs, if any path is one of them. */
const PATHS: Readonly<Record<StoredKind, string>> = {
  files: "/files",
  messageFiles: "/files",
  batches: "/batches",
  messageBatches: "/messages/batches",
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
    ...(namesFiles(type, node) && { files: imported(`${room}/file-ids`, "ANTHROPIC_FILES") }),
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

/** Whether results of batches name files that the route serves. */
function namesFiles(type: RouteType, { batched }: AiNode): boolean {
  return type === "MessageBatches" && batched.some((each) => each.type === "MessageFiles");
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
