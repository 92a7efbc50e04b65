import type { RoutedRequest } from "../diff/route-pairs.ts";
import type { RequestData } from "../effect/data/request-data.ts";

/** Formats `tools/call get-x  as {"sub": "test-user"}`. */
export function sentRequestText(
  data: RequestData,
  isItem: boolean,
  sent: RoutedRequest | undefined,
  isPlaced: boolean,
): string {
  const request: Readonly<Record<string, unknown>> = Object(data.request);
  const item = Object(data.mcp);
  const kinds = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const;
  const called = Object.entries(kinds).flatMap(([kind, method]) =>
    item[kind] === undefined ? [] : `${method} ${Object(item[kind]).name}`,
  );
  const head = isItem
    ? (called[0] ?? "tools/call")
    : `${request.method ?? sent?.method ?? "GET"} ${hostText(request.host, sent)}${request.path ?? sent?.path ?? "/"}`;
  const routed = isItem || isPlaced ? {} : sent?.headers;
  const headers = Object.entries({ ...routed, ...Object(request.headers) }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const query = Object.entries(isItem ? {} : (sent?.query ?? {})).map(
    ([name, value]) => `?${name}=${value}`,
  );
  const address = Object(data.source).address;
  const body =
    request.body === undefined || isItem
      ? []
      : [`with the body ${shortBody(String(request.body))}`];
  const who = [
    ...(data.jwt === undefined || data.jwt === null ? [] : [`as ${JSON.stringify(data.jwt)}`]),
    ...(data.apiKey === undefined || data.apiKey === null
      ? []
      : [`with an API key of ${JSON.stringify(data.apiKey)}`]),
    ...(data.basicAuth === undefined || data.basicAuth === null
      ? []
      : [`as user ${Object(data.basicAuth).username}`]),
    ...(address === undefined ? [] : [`from ${address}`]),
  ];
  return [head, ...headers, ...query, ...body, ...who].join("  ");
}

/** Abbreviates a body that is only long to exceed a size. */
function shortBody(body: string): string {
  return body.length <= 100 ? body : `${body.slice(0, 60)}... (${body.length} characters)`;
}

/** Formats `//shop.example.com` if the host matters. */
function hostText(asked: unknown, sent: RoutedRequest | undefined): string {
  if (asked !== undefined) return `//${asked}`;
  return sent === undefined || sent.isAnyHost ? "" : `//${sent.host}`;
}
