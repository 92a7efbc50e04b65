import { type HttpTargetSettings, openServer } from "./backend.ts";
import type { OpenApiTool } from "./openapi-tool.ts";
import { openOpenApiTransport } from "./openapi-transport.ts";
import type { OpenApiTarget } from "./target.ts";

/** Settings of an HTTP API. */
export interface OpenApiTargetSettings extends HttpTargetSettings {
  /** Names are unique. */
  readonly tools: readonly OpenApiTool[];
}

/** An HTTP API whose operations are tools. */
export function openapi(settings: OpenApiTargetSettings): OpenApiTarget {
  const { name, credentials, tools: all, retry, user, ...rest } = settings;
  const upstream = openServer(rest, retry, user);
  const list = JSON.stringify({
    tools: all.map(({ name: tool, description, inputSchema }) => ({
      name: tool,
      description,
      inputSchema,
    })),
  });
  const api = { name, upstream, tools: new Map(all.map((tool) => [tool.name, tool])), list };
  return {
    kind: "openapi",
    name,
    upstream,
    credentials,
    ...(user && { user }),
    open: (headers, host, events) => openOpenApiTransport(api, headers, host, events),
    identity: JSON.stringify(["openapi", rest.url, list]),
  };
}
