import type { Exchange } from "../../http/exchange.ts";
import { withoutResultMember } from "../protocol/envelope.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { readFields } from "../protocol/message-fields.ts";
import type { Outcome } from "../protocol/target-failure.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import { type ListFilter, updatesFilter } from "../rules/list-filter.ts";
import { repeatedKey } from "./failure-response.ts";

/** Whether the response to a method contains instructions that the tool lock must approve. */
export function isLockedOpening(
  { toolLock }: McpAuthorization,
  method: string | undefined,
): boolean {
  return toolLock !== undefined && (method === "initialize" || method === "server/discover");
}

/** Returns a filter that removes unapproved instructions from the response to `initialize` or `server/discover`. */
export function openingFilter(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
): ListFilter {
  const filter = updatesFilter(exchange, access, target);
  return (message) => {
    if (message.kind !== "response") return filter(message);
    return approvedOpening(exchange, access, target, message) ?? "unreadable";
  };
}

/** Removes unapproved instructions from the outcome of such a request. */
export function approvedOutcome(
  exchange: Exchange,
  access: McpAuthorization,
  target: string,
  outcome: Outcome,
): Outcome {
  if (outcome.kind === "failure") return outcome;
  const response = approvedOpening(exchange, access, target, outcome.response);
  if (response !== undefined) return { kind: "response", response };
  return { kind: "failure", failure: repeatedKey };
}

/** Returns `undefined` if clients could read other instructions than the ones that were checked. */
function approvedOpening(
  { gateway }: Exchange,
  { toolLock }: McpAuthorization,
  target: string,
  response: Message,
): Message | undefined {
  const { text, result } = response;
  if (toolLock === undefined || result === undefined) return response;
  const fields = readFields(text, result.start, NAMES);
  if (typeof fields === "string") return undefined;
  const at = fields.get("instructions");
  if (at === undefined) return response;
  return toolLock.approves({ target, warn: gateway.warn }, textAt(text, at))
    ? response
    : withoutResultMember(response, "instructions");
}

const NAMES: ReadonlySet<string> = new Set(["instructions"]);
