import { type Exchange, logFields } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { ownText } from "../../json/json-text.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
import { type McpAuthorization, subjectOf } from "../rules/authorization.ts";
import type { McpBackend } from "../transports/backend.ts";
import { waitingCalls } from "../transports/waiting-calls.ts";
import { bridgedStates } from "./bridged-states.ts";
import { hearCancellations } from "./cancelled-calls.ts";
import { DistantSession, offerSession } from "./distant-session.ts";
import { endedSessions } from "./ended-sessions.ts";
import {
  type McpSession,
  newSession,
  type SessionParts,
  sessionOf,
  sessionState,
} from "./session.ts";
import { markedId, ownerMark } from "./session-owner.ts";
import { sessionTable } from "./session-table.ts";

/** Opens a session for this client and creates its id. */
export function openSession(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  opened: SessionParts,
): McpSession {
  const { gateway } = exchange;
  const binding = callerBinding(exchange, backend, access);
  const { initialize } = opened;
  const isShort = initialize !== undefined && initialize.length <= MAX_INITIALIZE;
  const expiresAt = Date.now() + backend.timeouts.session;
  const parts = { ...opened, initialize: isShort ? ownText(initialize) : undefined };
  const owner = ownerMark(gateway.threads?.index);
  const waiting = waitingCalls(gateway);
  const state = sessionState(parts, expiresAt, waiting?.replica);
  const id = `${sealSession(gateway.sessionKeys, binding + owner, state)}${owner}`;
  const session = newSession(id, binding, parts, expiresAt);
  const table = sessionTable(gateway);
  remember(gateway, session);
  const { live } = session;
  if (waiting !== undefined && live !== undefined)
    offerSession(waiting, live, () => table.closeLive(live));
  note(exchange, session);
  return session;
}

/**
 * Resumes the session that the request names; `undefined` if the id is unknown, ended, expired, or belongs to another route
 * or subject.
 */
export function resumeSession(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  id: string,
): MaybePromise<McpSession | undefined> {
  const session = knownSession(exchange, backend, access, id);
  return session && sharedSession(exchange.gateway, session);
}

/** Returns a session as all replicas know it; `undefined` if one of them has ended it. */
function sharedSession(
  gateway: GatewayContext,
  session: McpSession,
): MaybePromise<McpSession | undefined> {
  const [ended, states] = [endedSessions(gateway), bridgedStates(gateway)];
  if (ended === undefined) return session;
  return Promise.all([ended.has(session), states?.load(session)]).then(([hasEnded]) => {
    if (!hasEnded) return session;
    sessionTable(gateway).end(session);
    return undefined;
  });
}

/** Finds a session that has not ended here, in memory or in its id. */
function knownSession(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  id: string,
): McpSession | undefined {
  const { gateway } = exchange;
  const binding = callerBinding(exchange, backend, access);
  const table = sessionTable(gateway);
  if (table.isEnded(id)) return undefined;
  const known = table.find(id);
  if (known !== undefined) {
    if (known.binding !== binding || known.expiresAt <= Date.now()) return undefined;
    if (known.distant?.isOpen === false) return undefined;
    note(exchange, known);
    return known;
  }
  const { sealed, owner } = markedId(id);
  const state = unsealSession(gateway.sessionKeys, binding + owner, sealed);
  if (state === undefined) return undefined;
  const waiting = waitingCalls(gateway);
  const session = sessionOf(id, binding, state, {
    findLive: (live) => table.findLive(live),
    distant: (replica, live) =>
      waiting === undefined || replica === waiting.replica
        ? undefined
        : new DistantSession(waiting, replica, live),
  });
  if (session === undefined) return undefined;
  remember(gateway, session);
  note(exchange, session);
  return session;
}

/** Keeps a session in memory, and lets it take part in what replicas share. */
function remember(gateway: GatewayContext, session: McpSession): void {
  sessionTable(gateway).remember(session);
  hearCancellations(gateway);
  bridgedStates(gateway)?.share(session);
}

/** Ends everything that a session holds here and invalidates its id, at all replicas that share a store. */
export function endSession({ gateway }: Exchange, session: McpSession): MaybePromise<void> {
  sessionTable(gateway).end(session);
  return endedSessions(gateway)?.add(session);
}

/** Answers with 404, so that the client opens a new session (MCP, transports, session management). */
export function refuseUnknownSession(exchange: Exchange): void {
  refuse(exchange, 404, "MCP", "Session not found");
}

/** Maximum length of the params that are sealed into the session id; longer ones would make the header too long. */
const MAX_INITIALIZE = 2048;

function note(exchange: Exchange, session: McpSession): void {
  logFields(exchange.record).set("mcp.session.id", session.logName);
}

/** Returns the caller whose share a session uses: the identity of the request, or else the client's address. */
export function sessionCaller(exchange: Exchange, access: McpAuthorization): string {
  const identity = identityOf(exchange, access);
  return identity === "" ? exchange.remoteAddress : identity;
}

/** Whether a credential identifies the caller. */
export function isKnownCaller(exchange: Exchange, access: McpAuthorization): boolean {
  return identityOf(exchange, access) !== "";
}

function identityOf({ record: { caller } }: Exchange, { jwt }: McpAuthorization): string {
  return caller === undefined ? subjectOf(jwt) : `${subjectOf(jwt)} ${caller}`;
}

/** Returns the scope in which a caller's ids and states are valid: route, targets and identity. */
export function callerBinding(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): string {
  const subject = identityOf(exchange, access);
  const place = `${backend.targetDigest}\n${backend.route}\n${subject}`;
  if (!backend.keepsCredentials) return place;
  return `${place}\n${JSON.stringify([exchange.header("authorization"), exchange.header("cookie")])}`;
}
