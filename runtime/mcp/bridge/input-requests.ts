import { randomUUID } from "node:crypto";
import { isObjectAt, objectMembers, stringAt } from "../../json/json-text.ts";
import { type Message, readMessage, textAt } from "../protocol/message.ts";
import { readFields } from "../protocol/message-fields.ts";
import { INPUT_METHODS } from "../protocol/methods.ts";

/** What a target needs to know before it goes on (MCP 2026-07-28, multi round-trip requests). */
export interface NeededInput {
  /** The requests, each under the name that the target gave it. */
  readonly requests: readonly InputRequest[];
  /** What the target wants to see again, as JSON text. */
  readonly state: string | undefined;
}

/** One of them, as a client of a session is asked. */
export interface InputRequest {
  readonly key: string;
  readonly request: Message;
}

/** What a result needs; undefined: it is complete. A string is why nobody can say. */
export function neededInput(response: Message): NeededInput | string | undefined {
  const { text, result } = response;
  if (result === undefined || !text.includes("input_required")) return undefined;
  const fields = readFields(text, result.start, RESULT_NAMES);
  if (typeof fields === "string") return fields;
  if (stringAt(text, fields.get("resultType")) !== "input_required") return undefined;
  const state = fields.get("requestState");
  const at = fields.get("inputRequests");
  if (at !== undefined && !isObjectAt(text, at.start)) return "inputRequests is no object";
  const requests: InputRequest[] = [];
  for (const { key, ...value } of at === undefined ? [] : objectMembers(text, at.start)) {
    const request = requestOf(textAt(text, value));
    if (request === undefined) return "an input request that is none";
    requests.push({ key, request });
  }
  return { requests, state: state && textAt(text, state) };
}

const RESULT_NAMES: ReadonlySet<string> = new Set(["resultType", "inputRequests", "requestState"]);

/** The request as a message of its own, under an id that nobody can guess. */
function requestOf(text: string): Message | undefined {
  if (!isObjectAt(text, 0)) return undefined;
  const fields = readFields(text, 0, new Set(["method", "params"]));
  if (typeof fields === "string") return undefined;
  const method = stringAt(text, fields.get("method"));
  if (method === undefined || !INPUT_METHODS.has(method)) return undefined;
  const at = fields.get("params");
  const params = at === undefined ? undefined : withElicitationId(textAt(text, at));
  const rest = params === undefined ? "" : `,"params":${params}`;
  const message = readMessage(
    `{"jsonrpc":"2.0","id":"${randomUUID()}","method":${JSON.stringify(method)}${rest}}`,
  );
  return message.kind === "problem" ? undefined : message;
}

/** A user who is sent to a URL: revision 2025-11-25 has an id for that. */
function withElicitationId(params: string): string {
  if (!isObjectAt(params, 0)) return params;
  const fields = readFields(params, 0, new Set(["mode", "elicitationId"]));
  if (typeof fields === "string" || stringAt(params, fields.get("mode")) !== "url") return params;
  if (fields.get("elicitationId") !== undefined) return params;
  return `{"elicitationId":"${randomUUID()}",${params.slice(1)}`;
}
