import type { Exchange } from "../../http/exchange.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { openConnection } from "../session/open-connection.ts";
import type { HttpSession, LiveParts } from "../session/session.ts";
import { callInSession } from "../session/session-call.ts";
import { sessionTable } from "../session/session-table.ts";
import { endTargetSession } from "../session/target-end.ts";
import type { McpBackend } from "../transports/backend.ts";
import type {
  Call,
  CallSink,
  LiveTarget,
  McpTarget,
  StreamableHttpTarget,
  TargetFailure,
} from "../transports/target.ts";
import type { TargetConnection } from "../transports/target-connection.ts";
import { type OpenedServer, ownMessage } from "./stateless-results.ts";

/** A session with a target, for one request at a time of a client that has none. */
export interface Lease {
  /** What the server said when the session was opened. */
  readonly opened: OpenedServer;
  readonly link: LeasedLink;
}

/** The way to a target within a session. */
export interface LeasedLink {
  readonly isOpen: boolean;
  call(exchange: Exchange, message: Message, sink: CallSink): Call;
  /** Sends a notification, or a response to what the server asked. */
  send(exchange: Exchange, message: Message): void;
  close(): void;
}

/** Where a session is opened, and as whom. */
export interface LeaseOptions {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly target: McpTarget;
  /** Whose share of all sessions it takes. */
  readonly caller: string;
  /** What the client can do, as JSON text. */
  readonly capabilities: string;
  /** JSON text. */
  readonly clientInfo: string;
}

/** Opens a session. */
export async function openLease(options: LeaseOptions): Promise<Lease | TargetFailure> {
  const { exchange, backend, target, capabilities, clientInfo } = options;
  const link = linkTo(options, target);
  if ("kind" in link) return link;
  const params = `{"protocolVersion":"${newestSessions}","capabilities":${capabilities},"clientInfo":${clientInfo}}`;
  const initialize = ownMessage(
    `{"jsonrpc":"2.0","id":"gwc-open","method":"initialize","params":${params}}`,
  );
  const opened = await new Promise<OpenedServer | TargetFailure>((resolve) => {
    const call = link.call(exchange, initialize, {
      onMessage: () => true,
      onResponse: ({ text, result }) =>
        resolve(result === undefined ? refused : JSON.parse(textAt(text, result))),
      onFailure: resolve,
    });
    const timer = setTimeout(() => {
      call.cancel();
      resolve({ kind: "timeout", detail: "did not open a session in time" });
    }, backend.timeouts.initialize);
    timer.unref();
  });
  if ("kind" in opened) {
    link.close();
    return opened;
  }
  if (link instanceof HttpLink) link.agree(String(opened.protocolVersion ?? newestSessions));
  link.send(exchange, initialized);
  return { opened, link };
}

const newestSessions = "2025-11-25";
const initialized = ownMessage('{"jsonrpc":"2.0","method":"notifications/initialized"}');
const refused: TargetFailure = { kind: "protocol", detail: "refused to open a session" };

function linkTo(
  { exchange, backend, caller }: LeaseOptions,
  target: McpTarget,
): HttpLink | ConnectionLink | TargetFailure {
  if (target.kind === "streamableHttp") return new HttpLink(exchange, backend, target);
  const live = sessionTable(exchange.gateway).openLive(backend.sessionLimits, caller);
  if (live === undefined) return { kind: "connect", detail: "too many sessions" };
  return connectionLink(exchange, backend, target, live);
}

function connectionLink(
  exchange: Exchange,
  backend: McpBackend,
  target: LiveTarget,
  live: LiveParts,
): ConnectionLink | TargetFailure {
  live.isEstablished = true;
  const opened = openConnection(exchange, backend, target, live);
  const close = () => sessionTable(exchange.gateway).closeLive(live);
  if ("connection" in opened) return new ConnectionLink(opened.connection, close);
  close();
  return opened.failure;
}

class HttpLink implements LeasedLink {
  readonly isOpen = true;
  readonly #backend: McpBackend;
  readonly #target: StreamableHttpTarget;
  #session: HttpSession = {
    kind: "http",
    id: "",
    version: newestSessions,
    features: "",
    renewal: undefined,
  };
  /** Of the last request: the end of a session is said with its credentials. */
  #exchange: Exchange;

  constructor(exchange: Exchange, backend: McpBackend, target: StreamableHttpTarget) {
    this.#exchange = exchange;
    this.#backend = backend;
    this.#target = target;
  }

  agree(version: string): void {
    this.#session = { ...this.#session, version };
  }

  call(exchange: Exchange, message: Message, sink: CallSink): Call {
    this.#exchange = exchange;
    const session = { initialize: undefined, isEnded: false };
    const context = { exchange, backend: this.#backend, session };
    return callInSession(context, this.#target, this.#session, message, sink);
  }

  send(exchange: Exchange, message: Message): void {
    this.call(exchange, message, {
      onMessage: () => true,
      onResponse: () => {},
      onFailure: () => {},
    });
  }

  close(): void {
    endTargetSession(this.#exchange, this.#target, this.#session);
  }
}

class ConnectionLink implements LeasedLink {
  readonly #connection: TargetConnection;
  readonly #close: () => void;

  constructor(connection: TargetConnection, close: () => void) {
    this.#connection = connection;
    this.#close = close;
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  call(_exchange: Exchange, message: Message, sink: CallSink): Call {
    return this.#connection.call(message, sink);
  }

  send(_exchange: Exchange, message: Message): void {
    this.#connection.send(message);
  }

  close(): void {
    this.#close();
  }
}
