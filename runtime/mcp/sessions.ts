import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { type McpAccess, subjectOf } from "./access.ts";
import type { McpBackend } from "./backend.ts";
import {
  type LiveParts,
  type McpSession,
  sessionOf,
  sessionState,
  type TargetSession,
} from "./session.ts";
import { sealSession, unsealSession } from "./session-seal.ts";
import { sessionTable } from "./session-table.ts";

/** What a new session consists of. */
export interface NewSession {
  /** The client's `initialize` params as JSON text; undefined when it sent none. */
  readonly initialize: string | undefined;
  readonly targets: readonly (TargetSession | undefined)[];
  readonly live: LiveParts | undefined;
}

/** Opens a session for this client and gives it its id. */
export function openSession(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAccess,
  parts: NewSession,
): McpSession {
  const { gateway } = exchange;
  const binding = bindingOf(backend, access);
  const { initialize } = parts;
  const state = {
    binding,
    ...parts,
    initialize:
      initialize !== undefined && initialize.length <= longestInitialize ? initialize : undefined,
    isEnded: false,
  };
  const session = { id: sealSession(gateway.sessionKey, binding, sessionState(state)), ...state };
  sessionTable(gateway).remember(session);
  return session;
}

/**
 * The session that the request names; undefined when it names none that is valid here: unknown, ended, another route's or
 * another subject's.
 */
export function resumeSession(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAccess,
  id: string,
): McpSession | undefined {
  const { gateway } = exchange;
  const binding = bindingOf(backend, access);
  const table = sessionTable(gateway);
  const known = table.find(id);
  if (known !== undefined) return known.binding === binding && !known.isEnded ? known : undefined;
  const state = unsealSession(gateway.sessionKey, binding, id);
  if (state === undefined) return undefined;
  const session = sessionOf(id, binding, state, (live) => table.findLive(live));
  if (session !== undefined) table.remember(session);
  return session;
}

/** Ends what a session holds here; its id is of no use any more. */
export function endSession(exchange: Exchange, session: McpSession): void {
  session.isEnded = true;
  if (session.live !== undefined) sessionTable(exchange.gateway).closeLive(session.live);
}

/** Answers with 404: the client opens a new session (MCP, transports, session management). */
export function refuseUnknownSession(exchange: Exchange): void {
  refuse(exchange, 404, "MCP", "Session not found");
}

/** Longer params would make the session id too long a header. */
const longestInitialize = 2048;

function bindingOf(backend: McpBackend, access: McpAccess): string {
  return `${backend.targetDigest}\n${backend.route}\n${subjectOf(access.jwt)}`;
}
