import type { ServerResponse } from "node:http";
import { mcpResponses, type Response } from "./raw-upstream.ts";

const verbs = "create list read update delete archive share export approve merge".split(" ");
const things =
  "issue invoice calendar branch customer order message document ticket contract payment report meeting folder user".split(
    " ",
  );

/** Definitions of tools as a product with an API has them: each verb for each thing. */
export function manyTools(count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => {
    const [verb = "", thing = ""] = [verbs[at % verbs.length], things[Math.floor(at / 10) % 15]];
    const area = at < 150 ? "" : `_${Math.floor(at / 150)}`;
    return {
      name: `${verb}_${thing}${area}`,
      title: `${verb} ${thing}`,
      description: `${verb} one ${thing} of the workspace, as the signed-in person would in the product. Returns the ${thing} with its history.`,
      inputSchema: {
        type: "object",
        properties: {
          [`${thing}Id`]: { type: "string", description: `Identifier of the ${thing}` },
          comment: { type: "string", description: "A remark that others see", maxLength: 500 },
          notify: { type: "boolean", description: "Whether to notify people", default: false },
        },
        required: [`${thing}Id`],
        additionalProperties: false,
      },
    };
  });
}

/** A server with sessions that lists these tools in pages, and answers calls with its name and their params. */
export function servingTools(server: string, tools: readonly object[], page = 100): Response {
  return (response: ServerResponse, request, message) => {
    const { cursor, name, arguments: given } = (message.params ?? {}) as Record<string, unknown>;
    const at = Number(cursor ?? 0);
    const next = at + page < tools.length ? { nextCursor: String(at + page) } : {};
    const called = JSON.stringify({ server, name, given });
    mcpResponses({
      initialize: JSON.stringify({
        protocolVersion: "2025-06-18",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: server, version: "1" },
      }),
      "tools/list": JSON.stringify({ tools: tools.slice(at, at + page), ...next }),
      "tools/call": JSON.stringify({ content: [{ type: "text", text: called }] }),
    })(response, request, message);
  };
}
