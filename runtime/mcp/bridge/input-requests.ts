import { randomUUID } from "node:crypto";
import { isObjectAt, objectMembers, stringAt } from "../../json/json-text.ts";
import { type Message, readMessage, textAt } from "../protocol/message.ts";
import { readFields } from "../protocol/message-fields.ts";
import { INPUT_METHODS } from "../protocol/methods.ts";

/** The input that a target requires to continue (MCP 2026-07-28, multi round-trip requests). */
export interface NeededInput {
  /** The requests with the target's names for them. */
  readonly requests: readonly InputRequest[];
  /** The state that the target wants to get back, as JSON text. */
  readonly state: string | undefined;
}

/** One input request, as a request to a client with a session. */
export interface InputRequest {
  readonly key: string;
  readonly request: Message;
}

/**
 * Reads the input that a result requires; `undefined` if the result is complete. Returns a string that describes the
 * problem if it is malformed. `newId`: returns an unguessable id for a request to the client.
 */
export function neededInput(
  response: Message,
  newId: () => string,
): NeededInput | string | undefined {
  const { text, result } = response;
  if (result === undefined || !text.includes("input_required")) return undefined;
  const fields = readFields(text, result.start, RESULT_NAMES);
  if (typeof fields === "string") return fields;
  if (stringAt(text, fields.get("resultType")) !== "input_required") return undefined;
  const state = fields.get("requestState");
  const at = fields.get("inputRequests");
  if (at !== undefined && !isObjectAt(text, at.start)) return "inputRequests is not an object";
  const requests: InputRequest[] = [];
  for (const { key, ...value } of at === undefined ? [] : objectMembers(text, at.start)) {
    const request = requestOf(textAt(text, value), newId());
    if (request === undefined) return "an invalid input request";
    requests.push({ key, request });
  }
  return { requests, state: state && textAt(text, state) };
}

const RESULT_NAMES: ReadonlySet<string> = new Set(["resultType", "inputRequests", "requestState"]);

/** Builds a message from an input request. */
function requestOf(text: string, id: string): Message | undefined {
  if (!isObjectAt(text, 0)) return undefined;
  const fields = readFields(text, 0, new Set(["method", "params"]));
  if (typeof fields === "string") return undefined;
  const method = stringAt(text, fields.get("method"));
  if (method === undefined || !INPUT_METHODS.has(method)) return undefined;
  const at = fields.get("params");
  const params = at === undefined ? undefined : withElicitationId(textAt(text, at));
  const rest = params === undefined ? "" : `,"params":${params}`;
  const message = readMessage(
    `{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(method)}${rest}}`,
  );
  return message.kind === "problem" ? undefined : message;
}

/** Adds the id that revision 2025-11-25 requires for sending a user to a URL. */
function withElicitationId(params: string): string {
  if (!isObjectAt(params, 0)) return params;
  const fields = readFields(params, 0, new Set(["mode", "elicitationId"]));
  if (typeof fields === "string" || stringAt(params, fields.get("mode")) !== "url") return params;
  if (fields.get("elicitationId") !== undefined) return params;
  return `{"elicitationId":"${randomUUID()}",${params.slice(1)}`;
}
