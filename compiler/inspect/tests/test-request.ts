import type { ClientMessage, TrialRequest } from "../../../runtime/trial/trial.ts";
import { toolSets } from "../../backends/index.ts";
import type { McpEra } from "../../backends/mcp/mcp-config.ts";
import { mcpTargets } from "../../ir/backend-text.ts";
import type { BindNode, ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { itemPrefix } from "../../model/item-prefix.ts";
import { pathOfView, routeEntry } from "../access/item-access.ts";
import type { GatewayTest, TestFile } from "./test-schema.ts";

/** Target of a test. */
export type TestTarget =
  | { readonly kind: "url"; readonly method: string; readonly url: URL; readonly bind: BindNode }
  | { readonly kind: "tunnel"; readonly authority: string; readonly bind: BindNode }
  | {
      readonly kind: "route";
      readonly route: RouteNode;
      readonly listener: ListenerNode;
      readonly bind: BindNode;
    };

/** The target of a test and its program. */
export type PlacedTarget = TestTarget & { readonly program: Program };

/** Creates the request of a test as a client sends it. */
export function trialRequest(
  test: GatewayTest,
  target: TestTarget,
  era: McpEra,
  servers: TestFile["servers"] = {},
): TrialRequest {
  const { headers = {}, from = "127.0.0.1", as = {}, response = {} } = test;
  const { host, own, ...request } = requestOf(test, target, era);
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const offered = Object.entries(servers).map(([name, { tools, prompts, resources }]) => [
    name,
    { tools: tools ?? [], prompts: prompts ?? [], resources: resources ?? [] },
  ]);
  return {
    ...request,
    port: target.bind.port,
    isTls: target.bind.tls !== undefined,
    headers: { host, ...own, ...Object.fromEntries(given) },
    address: from,
    identities: as,
    mcpServer: target.kind === "route" ? meantServer(test, target.route, servers) : undefined,
    servers: Object.fromEntries(offered),
    response: {
      status: response.status ?? 200,
      headers: response.headers ?? {},
      body: response.body ?? "",
    },
  };
}

/** A client's request without the headers of the test. */
type ClientRequest = Pick<TrialRequest, "method" | "target" | "body" | "message"> & {
  readonly host: string;
  readonly own: Readonly<Record<string, string>>;
};

function requestOf(test: GatewayTest, target: TestTarget, era: McpEra): ClientRequest {
  if (target.kind === "tunnel") {
    const { authority } = target;
    const sent = { host: authority, target: authority, body: undefined };
    return { method: "CONNECT", ...sent, own: {}, message: undefined };
  }
  if (target.kind === "url") {
    const { method, url } = target;
    const sent = { host: url.host, target: `${url.pathname}${url.search}`, body: test.body };
    return { method, ...sent, own: {}, message: undefined };
  }
  const { path, host } = addressOf(target, test.view);
  if (test.model === undefined) {
    const sent = { body: undefined, message: { era, ...messageOf(test) } };
    return { method: "POST", target: path, host, own: {}, ...sent };
  }
  const messages = [{ role: "user", content: test.text ?? "hello" }];
  const body = JSON.stringify({ model: test.model, messages });
  const own = { "content-type": "application/json" };
  return { method: "POST", target: completionsPath(path), host, own, body, message: undefined };
}

/** Returns a host and path by which a route is reached. */
function addressOf(
  { route, listener }: Extract<TestTarget, { kind: "route" }>,
  view: string | undefined,
): {
  readonly path: string;
  readonly host: string;
} {
  const entry = routeEntry(route, listener);
  const host = entry?.shared ?? "*";
  const path = entry?.match.path.value ?? "/";
  return {
    path: view === undefined ? path : pathOfView(path, view),
    host: host === "*" ? "localhost" : host.replace("*", "any"),
  };
}

/** Returns OpenAI's path for chat completions below a route's path. */
function completionsPath(path: string): string {
  if (path.endsWith("/completions")) return path;
  const base = path.replace(/\/$/, "");
  return base.endsWith("/v1") ? `${base}/chat/completions` : `${base}/v1/chat/completions`;
}

/** Creates the message of an MCP client. */
function messageOf({
  tool,
  prompt,
  resource,
  list,
  arguments: given,
}: GatewayTest): Omit<ClientMessage, "era"> {
  const args = given === undefined ? {} : { arguments: given };
  if (tool !== undefined)
    return { method: "tools/call", params: { name: tool, ...args }, name: tool };
  if (prompt !== undefined)
    return { method: "prompts/get", params: { name: prompt, ...args }, name: prompt };
  if (resource !== undefined)
    return { method: "resources/read", params: { uri: resource }, name: resource };
  return { method: `${list}/list`, params: {}, name: undefined };
}

/** Finds the server of a route that offers the item of a test; `undefined` if no server does. */
function meantServer(
  { tool, prompt, resource, list, view }: GatewayTest,
  route: RouteNode,
  servers: TestFile["servers"] = {},
): string | undefined {
  const name = tool ?? prompt ?? resource;
  const kind =
    list ?? (tool !== undefined ? "tools" : prompt !== undefined ? "prompts" : "resources");
  return route.backends.flatMap(mcpTargets).find((target) => {
    const own = { [target]: servers[target] ?? {} };
    const offered = offeredNames(route, kind, own, view);
    return name === undefined ? offered.length > 0 : offered.includes(name);
  });
}

/** Lists the names under which clients see the items of a route's servers. */
export function offeredNames(
  route: RouteNode,
  kind: "tools" | "prompts" | "resources",
  servers: TestFile["servers"] = {},
  view?: string,
): readonly string[] {
  const targets = route.backends.flatMap(mcpTargets);
  const sets = kind === "tools" ? route.backends.flatMap(toolSets) : [];
  const shown = sets
    .filter((set) => set.view === view)
    .flatMap(({ tools }) => tools)
    .filter(({ target, tool }) => servers[target]?.tools?.includes(tool) === true)
    .map(({ name }) => name);
  if (view !== undefined && kind === "tools") return shown;
  const own = targets.flatMap((target) =>
    (servers[target]?.[kind] ?? []).flatMap((name) => [
      name,
      `${itemPrefix(target, ITEM_KINDS[kind])}${name}`,
    ]),
  );
  return [...own, ...shown];
}

const ITEM_KINDS = { tools: "tool", prompts: "prompt", resources: "resource" } as const;

/** Lists the prefixed names of an item if a test omits the prefix although the route has several servers. */
export function namesWithServers(
  { tool, prompt, resource }: GatewayTest,
  route: RouteNode,
): readonly string[] {
  const targets = route.backends.flatMap(mcpTargets);
  const name = tool ?? prompt ?? resource;
  if (name === undefined || targets.length < 2) return [];
  const kind = resource === undefined ? "tool" : "resource";
  const prefixes = targets.map((target) => itemPrefix(target, kind));
  const isWhole = prefixes.some((prefix) => name.startsWith(prefix));
  return isWhole ? [] : prefixes.slice(0, 3).map((prefix) => `${prefix}${name}`);
}

/** Lists the items of a route's servers as rules see them during listing. */
export function offeredItems(
  route: RouteNode,
  kind: NonNullable<GatewayTest["list"]>,
  servers: TestFile["servers"] = {},
): readonly Readonly<Record<string, unknown>>[] {
  const item = kind.slice(0, -1);
  return route.backends.flatMap(mcpTargets).flatMap((target) =>
    (servers[target]?.[kind] ?? []).map((name) => ({
      methodName: `${kind}/list`,
      [item]: { name, target },
    })),
  );
}
