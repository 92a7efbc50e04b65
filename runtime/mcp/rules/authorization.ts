import type { StepUp } from "../../auth/oauth/step-up.ts";
import type { JwtVariable, McpPrimitive, McpVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { McpRule } from "../../policies/mcp-authorization.ts";
import { allowed, type RuleVerdict } from "../../policies/rule-verdict.ts";
import { itemLists, type McpPrimitiveKind } from "../protocol/item-lists.ts";
import { uriReadings } from "../protocol/resource-uri.ts";
import type { ListedDefinition } from "./lock-check.ts";
import type { ToolLock } from "./tool-lock.ts";

/** Who asks, and which tools, prompts and resources exist for them. */
export interface McpAuthorization {
  /** The claims of the verified token; a session belongs to their `iss` and `sub`. */
  readonly jwt: JwtVariable;
  /** The compiled rules of mcpAuthorization; `allowEverything` when there are none. */
  readonly authorize: McpRule;
  /** Says which scopes would change what the rules refuse; absent: clients are not told. */
  readonly stepUp?: StepUp;
  /** Withholds what is not as it was approved; absent: nothing. */
  readonly toolLock?: ToolLock;
}

/** The rule of a route without mcpAuthorization; responses then pass unread, unless there is a lock. */
export function allowEverything(): RuleVerdict {
  return allowed;
}

/** True when nothing has to be hidden. */
export function hidesNothing(access: McpAuthorization): boolean {
  return isOpen(access) && access.toolLock === undefined;
}

/** True when every client may do everything. */
function isOpen(access: McpAuthorization): boolean {
  return access.authorize === allowEverything;
}

/**
 * What the rules say about an item and this client. A rule that throws forbids it. A resource has to be allowed by every
 * URI that servers may take its own for.
 */
export function verdictOn(
  access: McpAuthorization,
  request: Exchange,
  methodName: string,
  kind: McpPrimitiveKind,
  item: McpPrimitive,
): RuleVerdict {
  if (isOpen(access)) return allowed;
  if (kind !== "resource") return asked(access, request, variablesOf(kind, item, methodName));
  let verdict = allowed;
  for (const name of uriReadings(item.name)) {
    verdict = asked(access, request, variablesOf(kind, { ...item, name }, methodName));
    if (!verdict.isAllowed) break;
  }
  return verdict;
}

/** Whether the rules show an item to this client. */
export function isAllowed(...question: Parameters<typeof verdictOn>): boolean {
  return verdictOn(...question).isAllowed;
}

/**
 * Whether an entry of a target's list is shown to this client: by the rules, for which it is asked for as its own list is,
 * and as it was approved.
 */
export function isListed(
  access: McpAuthorization,
  request: Exchange,
  target: string,
  item: ListedDefinition,
): boolean {
  const { toolLock, jwt } = access;
  const { kind, method } = itemLists[item.list];
  if (!isAllowed(access, request, method, kind, { name: item.name, target })) return false;
  return toolLock === undefined || toolLock.shows(toolLock.ownerOf(request, jwt, target), item);
}

/**
 * What becomes of a method that MCP does not have: with rules only one passes that they name (`ruledMethods`), and that they
 * allow to this client.
 */
export function verdictOnMethod(
  access: McpAuthorization,
  request: Exchange,
  ruledMethods: readonly string[],
  methodName: string,
): RuleVerdict {
  if (isOpen(access)) return allowed;
  if (!ruledMethods.includes(methodName)) return unnamedMethod;
  return asked(access, request, { methodName });
}

const unnamedMethod: RuleVerdict = { isAllowed: false, rule: "no rule names the method" };
const failedRule: RuleVerdict = { isAllowed: false, rule: "a rule failed" };

function asked({ authorize, jwt }: McpAuthorization, request: Exchange, mcp: McpVariables) {
  try {
    return authorize({ mcp, request, jwt });
  } catch {
    return failedRule;
  }
}

/** Whom a session belongs to: the token's issuer and subject, or nobody. */
export function subjectOf(jwt: JwtVariable): string {
  if (jwt === null) return "";
  const issuer = Object.hasOwn(jwt, "iss") ? jwt.iss : null;
  const subject = Object.hasOwn(jwt, "sub") ? jwt.sub : null;
  return JSON.stringify([issuer, subject]);
}

function variablesOf(kind: McpPrimitiveKind, item: McpPrimitive, methodName: string): McpVariables {
  switch (kind) {
    case "tool":
      return { tool: item, methodName };
    case "prompt":
      return { prompt: item, methodName };
    case "resource":
      return { resource: item, methodName };
  }
}
