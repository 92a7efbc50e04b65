import {
  type Edit,
  elementsOf,
  isArrayAt,
  isObjectAt,
  objectMembers,
  stringAt,
} from "../../json/json-text.ts";
import { metaKey } from "../protocol/envelope.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { edited, replaced, stringParamOf } from "../protocol/message-edit.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import { listedParamHeaders } from "../protocol/param-headers.ts";
import { NEWEST_SESSION_REVISION, SESSION_REVISIONS } from "../protocol/revisions.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import { type BridgedSession, changeState } from "../transports/session-bridge.ts";

/**
 * Converts the response to `server/discover` to a response to the client's `initialize`; `undefined` if it has no
 * capabilities.
 */
export function initializeResponse(
  target: string,
  initialize: Message,
  discovered: Message,
): Message | undefined {
  const { text, result } = discovered;
  if (result === undefined) return undefined;
  const { capabilities, instructions, _meta }: DiscoverResult = JSON.parse(textAt(text, result));
  if (capabilities === undefined) return undefined;
  const { tasks: _, extensions: __, ...kept } = capabilities;
  const asked = requestedRevision(initialize);
  return ownMessage(
    rpcResult(
      initialize.id,
      JSON.stringify({
        protocolVersion: SESSION_REVISIONS.has(asked) ? asked : NEWEST_SESSION_REVISION,
        capabilities: kept,
        serverInfo: _meta?.[metaKey.serverInfo] ?? { name: target, version: "1" },
        instructions,
      }),
    ),
  );
}

/** Converts a target's response for a client with a session. */
export function sessionResponse(
  session: BridgedSession,
  request: Message,
  response: Message,
): Message {
  if (response.result === undefined) return sessionError(request, response);
  switch (request.method) {
    case "tools/list":
      noteParamHeaders(session, response);
      return edited(response, schemaEdits(session, response));
    case "tools/call":
      return edited(response, outputEdits(session, request, response));
    default:
      return response;
  }
}

/** Stores which arguments calls of the listed tools repeat in headers. */
export function noteParamHeaders({ paramHeaders }: BridgedSession, response: Message): void {
  for (const [name, headers] of listedParamHeaders(response)) paramHeaders.set(name, headers);
}

interface DiscoverResult {
  readonly capabilities?: { readonly [name: string]: unknown };
  readonly instructions?: unknown;
  readonly _meta?: { readonly [name: string]: unknown };
}

function requestedRevision({ text, params }: Message): string {
  if (params === undefined) return "";
  return stringAt(text, fieldOf(text, params, "protocolVersion")) ?? "";
}

/**
 * Replaces errors of the stateless revision: a client with a session sent no version, header or capability that it could
 * correct.
 */
function sessionError(request: Message, response: Message): Message {
  const { error }: { readonly error?: RpcErrorText } = JSON.parse(response.text);
  switch (error?.code) {
    case rpcCode.missingCapability: {
      const needed = Object.keys(error.data?.requiredCapabilities ?? {}).join(", ");
      const text = `This requires capabilities that the client has not declared: ${needed}`;
      const failed = JSON.stringify({ isError: true, content: [{ type: "text", text }] });
      return ownMessage(
        request.method === "tools/call"
          ? rpcResult(request.id, failed)
          : rpcError(request.id, rpcCode.internal, text),
      );
    }
    case rpcCode.headerMismatch:
    case rpcCode.unsupportedVersion:
      return ownMessage(
        rpcError(request.id, rpcCode.internal, "MCP server returned an invalid response"),
      );
    default:
      return response;
  }
}

interface RpcErrorText {
  readonly code?: number;
  readonly data?: { readonly requiredCapabilities?: object };
}

/** Wraps output schemas that are not object schemas: clients with sessions reject lists that contain them. */
function schemaEdits(session: BridgedSession, { text, result }: Message): Edit[] {
  if (result === undefined || !text.includes("outputSchema")) return [];
  const tools = fieldOf(text, result, "tools");
  if (tools === undefined || !isArrayAt(text, tools.start)) return [];
  const wrapped: string[] = [];
  const edits = elementsOf(text, tools.start).flatMap((tool) => {
    if (!isObjectAt(text, tool.start)) return [];
    const members = new Map(objectMembers(text, tool.start).map((each) => [each.key, each]));
    const name = stringAt(text, members.get("name"));
    const schema = members.get("outputSchema");
    if (name === undefined || schema === undefined) return [];
    const value: unknown = JSON.parse(textAt(text, schema));
    if (isObjectSchema(value)) return [];
    if (!session.wrapped.has(name)) wrapped.push(name);
    const properties = { result: withMovedReferences(value) };
    const shown = { type: "object", properties, required: ["result"] };
    return [replaced(schema, JSON.stringify(shown))];
  });
  if (wrapped.length > 0)
    void changeState(session, (state) => {
      for (const name of wrapped) state.wrapped.add(name);
    });
  return edits;
}

function outputEdits(session: BridgedSession, request: Message, { text, result }: Message): Edit[] {
  if (result === undefined || !text.includes("structuredContent")) return [];
  const content = fieldOf(text, result, "structuredContent");
  if (content === undefined) return [];
  const name = stringParamOf(request, "name");
  const isWrapped = name !== undefined && session.wrapped.has(name);
  if (isObjectAt(text, content.start) && !isWrapped) return [];
  return [replaced(content, `{"result":${textAt(text, content)}}`)];
}

function isObjectSchema(schema: unknown): boolean {
  return (
    typeof schema === "object" && schema !== null && "type" in schema && schema.type === "object"
  );
}

/** Moves the references in a schema that has become part of another one. */
function withMovedReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withMovedReferences);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const isReference = key === "$ref" && typeof value === "string" && /^#(\/|$)/.test(value);
      return [
        key,
        isReference ? `#/properties/result${value.slice(1)}` : withMovedReferences(value),
      ];
    }),
  );
}
