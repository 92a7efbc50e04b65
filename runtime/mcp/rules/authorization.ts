import type { JwtVariable, McpPrimitive, McpVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { McpRule } from "../../policies/mcp-authorization.ts";
import type { McpPrimitiveKind } from "../protocol/primitives.ts";

/** Who asks, and which tools, prompts and resources exist for them. */
export interface McpAuthorization {
  /** The claims of the verified token; a session belongs to their `iss` and `sub`. */
  readonly jwt: JwtVariable;
  /** The compiled rules of mcpAuthorization; `allowEverything` when there are none. */
  readonly authorize: McpRule;
}

/** The rule of a route without mcpAuthorization; responses then pass unread. */
export function allowEverything(): boolean {
  return true;
}

/** True when nothing has to be hidden. */
export function isOpen(access: McpAuthorization): boolean {
  return access.authorize === allowEverything;
}

/** Whether the rules show an item to this client. A rule that throws shows nothing. */
export function isAllowed(
  access: McpAuthorization,
  request: Exchange,
  methodName: string,
  kind: McpPrimitiveKind,
  item: McpPrimitive,
): boolean {
  if (isOpen(access)) return true;
  try {
    return access.authorize({ mcp: variablesOf(kind, item, methodName), request, jwt: access.jwt });
  } catch {
    return false;
  }
}

/**
 * Whether a method that MCP does not have passes: with rules only one that they name (`ruledMethods`), and that they allow
 * to this client.
 */
export function isMethodAllowed(
  access: McpAuthorization,
  request: Exchange,
  ruledMethods: readonly string[],
  methodName: string,
): boolean {
  if (isOpen(access)) return true;
  if (!ruledMethods.includes(methodName)) return false;
  try {
    return access.authorize({ mcp: { methodName }, request, jwt: access.jwt });
  } catch {
    return false;
  }
}

/** The error that a client gets for an item that is hidden from it, or isn't there: the same. */
export function unknownPrimitive(kind: McpPrimitiveKind, nameAsSent: string): string {
  return `Unknown ${kind}: ${nameAsSent}`;
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
