import type { Exchange } from "../../http/exchange.ts";
import { withoutResultMember } from "../protocol/envelope.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { readFields } from "../protocol/message-fields.ts";
import type { Outcome } from "../protocol/target-failure.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import { type ListFilter, updatesFilter } from "../rules/list-filter.ts";
import { repeatedKey } from "./failure-response.ts";

/** Whether a method is answered with what a server says of itself, and the lock has to be asked about that. */
export function isLockedOpening(
  { toolLock }: McpAuthorization,
  method: string | undefined,
): boolean {
  return toolLock !== undefined && (method === "initialize" || method === "server/discover");
}

/** Leaves instructions that are not approved out of the response to `initialize` or `server/discover`. */
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

/** What came of such a request, without instructions that are not approved. */
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

/** Undefined: clients may read another text in it than the one that was decided about. */
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
