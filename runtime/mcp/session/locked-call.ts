import { randomUUID } from "node:crypto";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { stringAt } from "../../json/json-text.ts";
import { metaFields, metaKey, withParams } from "../protocol/envelope.ts";
import { readLists } from "../protocol/list-edit.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { stringParamOf } from "../protocol/message-edit.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { type McpAuthorization, unknownPrimitive } from "../rules/authorization.ts";
import { listOwner, type OfferedTool } from "../rules/tool-lock.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import type { Call, CallSink, TargetFailure } from "../transports/target.ts";

/** The call of a tool that may have to wait until it is known what the tool says of itself. */
export interface LockedCall {
  readonly exchange: Exchange;
  readonly access: McpAuthorization;
  /** The target's name. */
  readonly target: string;
  /** The client's request, as the target gets it. */
  readonly request: Message;
  /** The tool as the client calls it. */
  readonly toolName: string;
  /** Sends a request to the target as this client. */
  readonly ask: (request: Message, sink: CallSink) => Call;
  /** Takes what the target says while it lists its tools. */
  readonly onMessage: (message: Message) => void;
  /** Milliseconds for one page of its list. */
  readonly deadline: number;
}

/** Why a call is not made: the text of the response that says so, or what went wrong at the target. */
export type LockRefusal =
  | { readonly kind: "withheld"; readonly text: string }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

/** Whether a request has to be held against a lock before it is sent. */
export function isLockedCall({ toolLock }: McpAuthorization, request: Message): boolean {
  return toolLock !== undefined && request.method === "tools/call";
}

/** Holds the tool of a call against the lock; undefined: the call may be made. What is withheld is noted. */
export async function checkLock(call: LockedCall): Promise<LockRefusal | undefined> {
  const { exchange, access, target, request, toolName } = call;
  const { toolLock, jwt } = access;
  if (toolLock === undefined) return undefined;
  let failure: TargetFailure = { kind: "protocol", detail: "it did not list its tools" };
  const verdict = await toolLock.verdictOn(
    listOwner(exchange, jwt, target),
    stringParamOf(request, "name") ?? "",
    async () => {
      const listed = await listTools(call);
      if (!("kind" in listed)) return listed;
      failure = { ...listed, detail: `tools/list: ${listed.detail}` };
      return undefined;
    },
  );
  if (verdict.kind === "locked") return undefined;
  if (verdict.kind === "unknown") return { kind: "failure", failure };
  exchange.record.reason = "ToolLock";
  logFields(exchange.record).set("rule", `tool lock: ${verdict.why}`);
  const text = unknownPrimitive("tool", toolName);
  return { kind: "withheld", text: rpcError(request.id, rpcCode.invalidParams, text) };
}

/** The most pages of a list: one that goes on is no list. */
const maxPages = 100;

/** All tools that a target lists, or why it does not. */
async function listTools({
  ask,
  request,
  deadline,
  onMessage,
}: LockedCall): Promise<readonly OfferedTool[] | TargetFailure> {
  const tools: OfferedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const own = listRequest(request, cursor);
    const outcome = await outcomeOf((sink) => ask(own, sink), deadline, onMessage);
    if (outcome.kind === "failure") return outcome.failure;
    const { response } = outcome;
    const lists = readLists(response, (item) => {
      if (item.kind === "tool") tools.push(item);
      return item.name;
    });
    if (response.result === undefined || typeof lists === "string")
      return { kind: "protocol", detail: "answered a list with an error" };
    cursor = stringAt(response.text, fieldOf(response.text, response.result, "nextCursor"));
    if (cursor === undefined) return tools;
  }
  return { kind: "protocol", detail: `a list of more than ${maxPages} pages` };
}

/** Asks for a page as the client's call would ask: in its revision, and by its name. */
function listRequest(call: Message, cursor: string | undefined): Message {
  const id = JSON.stringify(`gwc-tools-${randomUUID()}`);
  const request = ownMessage(`{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{}}`);
  const fields = metaFields(call);
  const said = typeof fields === "string" ? [] : [...fields.values()];
  const meta = said.filter(({ key }) => ofClient.has(key));
  return withParams(
    request,
    Object.fromEntries(meta.map((at) => [at.key, textAt(call.text, at)])),
    cursor === undefined ? {} : { cursor: JSON.stringify(cursor) },
  );
}

const ofClient: ReadonlySet<string> = new Set([
  metaKey.protocolVersion,
  metaKey.clientInfo,
  metaKey.clientCapabilities,
]);
