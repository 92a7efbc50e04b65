import type { StepUp } from "../../auth/oauth/step-up.ts";
import type { JsonObject, JwtVariable, McpPrimitive, McpVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { McpRule } from "../../policies/mcp-authorization.ts";
import { allowed, type RuleVerdict } from "../../policies/rule-verdict.ts";
import { itemLists, type McpPrimitiveKind } from "../protocol/item-lists.ts";
import type { Message } from "../protocol/message.ts";
import { uriReadings } from "../protocol/resource-uri.ts";
import type { ListedDefinition } from "./lock-check.ts";
import type { ToolLock } from "./tool-lock.ts";

/** The caller and the rules about its tools, prompts and resources. */
export interface McpAuthorization {
  /** The claims of the verified token; a session belongs to their `iss` and `sub`. */
  readonly jwt: JwtVariable;
  /** The compiled rules of mcpAuthorization; `allowEverything` if the route has no rules. */
  readonly authorize: McpRule;
  /** Returns the missing scopes of a denied request; absent if clients must not learn them. */
  readonly stepUp?: StepUp;
  /** Reads the arguments of a tool call, or says why they are ambiguous; absent if no rule reads them. */
  readonly readArguments?: (request: Message) => JsonObject | string;
  /** Withholds unapproved items; absent if there is no lock. */
  readonly toolLock?: ToolLock;
}

/** The rule of a route without mcpAuthorization; responses then pass unread, unless there is a lock. */
export function allowEverything(): RuleVerdict {
  return allowed;
}

/** Whether no item can be hidden. */
export function hidesNothing(access: McpAuthorization): boolean {
  return isOpen(access) && access.toolLock === undefined;
}

/** Whether the rules allow everything to every client. */
function isOpen(access: McpAuthorization): boolean {
  return access.authorize === allowEverything;
}

/**
 * Returns the rules' verdict on an item for this client. A rule that throws denies. A resource must be allowed under every
 * URI that servers may read its URI as.
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

/** Whether the rules allow an item to this client. */
export function isAllowed(...question: Parameters<typeof verdictOn>): boolean {
  return verdictOn(...question).isAllowed;
}

/**
 * Whether an entry of a target's list is visible to this client: the rules must allow its list method, and the lock its
 * definition.
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
 * Returns the verdict on a method that MCP does not define. If there are rules, they must name the method (`ruledMethods`)
 * and allow it to this client.
 */
export function verdictOnMethod(
  access: McpAuthorization,
  request: Exchange,
  ruledMethods: readonly string[] = [],
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

/** Returns the owner of a session: the token's issuer and subject; empty without a token. */
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
