import { EventEmitter } from "node:events";
import type { Gateway } from "../gateway/definition.ts";
import { processSettings } from "../gateway/environment.ts";
import { LiveContext } from "../gateway/live-context.ts";
import type { BodySink, BodySource } from "../http/body/body.ts";
import { acceptRequest } from "../http/engine/accept-request.ts";
import type {
  EngineConnection,
  EngineRequest,
  EngineResponse,
  EngineTunnel,
} from "../http/engine/engine.ts";
import { type ServerHandlers, tunnelRefusal } from "../http/engine/server-handlers.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { Metrics } from "../metrics/metrics.ts";
import { thenMaybe } from "../process/maybe-promise.ts";
import { initializeMessage, messageRequest } from "./mcp-client.ts";
import { portSettings } from "./stubs/http-port.ts";
import {
  type ClientMessage,
  type Trial,
  type TrialOutcome,
  type TrialRequest,
  trials,
} from "./trial.ts";

/** A gateway for trials. */
export interface TrialGateway {
  /**
   * Sends a request `count` times, for messages with sessions in one session. Returns the last outcome. Rejects only if the
   * port does not serve HTTP.
   */
  send(request: TrialRequest, count: number): Promise<TrialOutcome>;
  /** Closes what requests have opened. */
  close(): void;
}

/**
 * Opens a gateway for trials, one after the other. `patience`: milliseconds after which a request counts as not answered.
 */
export function openTrials(gateway: Gateway, patience: number): TrialGateway {
  const settings = { ...processSettings(gateway, {}), stateDir: undefined };
  const context = new LiveContext(settings, new Metrics(), () => {});
  const sendOnce = (request: TrialRequest) => {
    const trial: Trial = { request, calls: [], shown: new Set(), claims: undefined };
    return trials.run(trial, () => send(gateway, context, trial, patience));
  };
  return {
    send: async (request, count) => {
      const { message } = request;
      if (message?.era === "sessions") return tryInSession(request, message, count, sendOnce);
      for (let sent = 1; sent < count; sent++) await sendOnce(request);
      return sendOnce(request);
    },
    close: () => context.closeSessions(),
  };
}

function send(
  gateway: Gateway,
  context: LiveContext,
  trial: Trial,
  patience: number,
): Promise<TrialOutcome> {
  const { request } = trial;
  const port = gateway.ports.find((each) => each.port === request.port);
  const settings = port && portSettings(port);
  if (settings === undefined) throw new Error(`port ${request.port} does not serve HTTP`);
  const isTunnel = request.method === "CONNECT";
  const refusal = isTunnel
    ? tunnelRefusal({ isForwardProxy: false, takesTunnels: false, ...settings })
    : undefined;
  if (refusal !== undefined) return Promise.resolve(tunnelOutcome(trial, refusal));
  const response = new TrialResponse(isTunnel);
  return new Promise((resolve) => {
    let failure: string | undefined;
    let exchange: Exchange | undefined;
    const end = () => {
      clearTimeout(timer);
      if (exchange === undefined) return;
      resolve(outcomeOf(trial, exchange, { incoming, response, failure }));
    };
    const timer = setTimeout(() => response.destroy(), patience);
    const handlers: ServerHandlers = {
      handle: (accepted) => {
        const { connectionRules } = settings;
        if (connectionRules === undefined) return settings.handle(accepted);
        const rest = {
          metrics: context.metrics,
          onAbort: (abort: () => void) => accepted.onAbort(abort),
        };
        return thenMaybe(connectionRules.verdict(accepted, rest), ({ isAllowed, rule }) => {
          if (isAllowed) return settings.handle(accepted);
          accepted.record.reason = "Authorization";
          logFields(accepted.record).set("rule", rule);
          response.destroy();
        });
      },
      began: (begun) => {
        exchange = begun;
        gateway.requestId?.(begun);
      },
      isForwardProxy: settings.isForwardProxy ?? false,
      takesTunnels: settings.takesTunnels ?? false,
      keepsPaths: settings.keepsPaths ?? false,
      connectionRules: undefined,
      denied: () => {},
      failedHandshake: () => {},
      proxyProtocol: undefined,
      division: undefined,
      handover: undefined,
      ended: () => {},
      failed: (_, error) => {
        failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
      },
      malformed: () => {},
      refused: () => {},
      warn: () => {},
      broken: undefined,
      connections: gateway.connections,
    };
    const incoming = new IncomingRequest(request);
    const accepted = { handlers: () => handlers, gateway: context };
    acceptRequest(incoming, response, {}, accepted);
    response.on("close", end);
  });
}

/** Outcome of CONNECT on a port that does not accept tunnels: it is refused before a listener is chosen. */
function tunnelOutcome({ request, calls, claims }: Trial, status: number): TrialOutcome {
  const { method, headers, isTls, target } = request;
  return {
    status,
    headers: [],
    body: "",
    reason: "BadRequest",
    listener: undefined,
    route: undefined,
    fields: {},
    calls,
    request: {
      method,
      scheme: isTls ? "https" : "http",
      host: target,
      path: "/",
      pathAndQuery: "/",
      headers,
    },
    claims,
    failure: undefined,
  };
}

function outcomeOf(
  { calls, claims }: Trial,
  exchange: Exchange,
  { incoming, response, failure }: Sent,
): TrialOutcome {
  const { record, original } = exchange;
  return {
    status: response.headersSent ? response.statusCode : undefined,
    headers: response.head,
    body: Buffer.concat(response.pieces).toString("utf8"),
    reason: record.reason,
    listener: record.listener,
    route: record.route,
    fields: Object.fromEntries(record.fields?.entries() ?? []),
    calls,
    request: {
      method: original.method,
      scheme: original.scheme,
      host: original.host,
      path: exchange.path,
      pathAndQuery: exchange.pathAndQuery,
      headers: incoming.sent,
      ...(incoming.body !== undefined && { body: incoming.body }),
    },
    claims,
    failure,
  };
}

/** Both ends of an exchange. */
interface Sent {
  readonly incoming: IncomingRequest;
  readonly response: TrialResponse;
  readonly failure: string | undefined;
}

/** A request without a connection. */
class IncomingRequest implements EngineRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly httpVersion = "1.1";
  readonly acceptsTrailers = false;
  readonly trailers = undefined;
  readonly socket: EngineConnection;
  /** Its headers by name; a list is a header with several lines. */
  readonly sent: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | undefined;

  constructor({ method, target, headers, message, address, port, isTls, ...rest }: TrialRequest) {
    const host = String(headers.host ?? "");
    const { headers: own, body } = message ? messageRequest(message) : { headers: {}, ...rest };
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    this.method = method;
    this.url = target;
    this.sent = { ...length, ...own, ...headers };
    this.rawHeaders = Object.entries(this.sent).flatMap(([name, value]) =>
      typeof value === "string" ? [name, value] : value.flatMap((line) => [name, line]),
    );
    this.body = body;
    this.socket = {
      remoteAddress: address,
      remotePort: 50_000,
      localAddress: "127.0.0.1",
      localPort: port,
      encrypted: isTls,
      servername: isTls && host.replace(/:\d+$/, ""),
      resetAndDestroy: () => {},
    };
  }

  flow(sink: BodySink): void {
    if (this.body !== undefined) sink.onData(Buffer.from(this.body));
    sink.onEnd();
  }

  pause(): void {}
  resume(): void {}
  discard(): void {}
}

/** Body of a client that opens a tunnel and sends nothing through it. */
const NO_BYTES: BodySource = {
  length: undefined,
  flow: () => {},
  pause: () => {},
  resume: () => {},
  discard: () => {},
};

/** A response that only the trial reads. */
class TrialResponse extends EventEmitter implements EngineResponse {
  readonly pieces: Buffer[] = [];
  head: readonly string[] = [];
  statusCode = 0;
  headersSent = false;
  writableFinished = false;
  readonly tunnel?: EngineTunnel;
  #isClosed = false;

  constructor(isTunnel: boolean) {
    super();
    if (!isTunnel) return;
    this.tunnel = {
      accept: (head) => {
        this.writeHead(200, head);
        return NO_BYTES;
      },
    };
  }

  writeHead(status: number, head: readonly string[]): void {
    this.statusCode = status;
    this.head = head;
    this.headersSent = true;
  }

  writeContinue(): void {}

  flushHead(): void {}

  setTrailers(): void {}

  write(chunk: Uint8Array): boolean {
    this.pieces.push(Buffer.from(chunk));
    return true;
  }

  end(chunk?: Uint8Array): void {
    if (chunk !== undefined) this.pieces.push(Buffer.from(chunk));
    this.writableFinished = true;
    this.#close();
  }

  destroy(): void {
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Like a socket: emitted after the handler has finished.
    setImmediate(() => this.emit("close"));
  }
}

/**
 * Sends a message as a client with sessions does: opens a session, sends the message `count` times, and ends the session.
 * Returns the outcome of the last message, or of opening the session if that fails.
 */
async function tryInSession(
  request: TrialRequest,
  message: ClientMessage,
  count: number,
  send: (request: TrialRequest) => Promise<TrialOutcome>,
): Promise<TrialOutcome> {
  const opened = await send({ ...request, message: initializeMessage(message) });
  if (opened.status !== 200 || opened.reason !== undefined) return opened;
  const at = opened.headers.findIndex((name) => name.toLowerCase() === "mcp-session-id");
  const session = at < 0 ? {} : { session: opened.headers[at + 1] ?? "" };
  const begun = { ...message, method: "notifications/initialized", params: {}, name: undefined };
  await send({ ...request, message: { ...begun, ...session } });
  let outcome = opened;
  for (let sent = 0; sent < count; sent++)
    outcome = await send({ ...request, message: { ...message, ...session } });
  if (session.session !== undefined) {
    const headers = { ...request.headers, "mcp-session-id": session.session };
    await send({ ...request, method: "DELETE", headers, message: undefined, body: undefined });
  }
  return outcome;
}
