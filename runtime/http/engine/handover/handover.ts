import type { MessagePort } from "node:worker_threads";
import type { GatewayContext } from "../../../process/gateway-context.ts";
import type { ServeThreadCall } from "../../../process/line-calls.ts";
import { ThreadCalls } from "../../../process/thread-calls.ts";
import { type LineListener, type ThreadLine, ThreadLinks } from "../../../process/thread-links.ts";
import type { RefusalFormat } from "../../refusal-format.ts";
import { acceptRequest } from "../accept-request.ts";
import type { EngineRequest } from "../engine.ts";
import type { PortHandover, RequestPort } from "../server-handlers.ts";
import { ForwardedRequest } from "./forwarded-request.ts";
import { HandedOverRequest } from "./handed-over-request.ts";
import { HandedOverResponse } from "./handed-over-response.ts";
import type { HandedOver, HandoverMessage } from "./handover-message.ts";
import { endLost, type GivenRequest } from "./lost-request.ts";

/** Returns the thread that owns a request; `undefined` if any thread may serve it. */
export type OwnerOf = (request: EngineRequest) => number | undefined;

/** Settings of a handover. */
export interface HandoverSettings {
  readonly ownerOf: OwnerOf;
  /** Format of the refusal of a request whose thread has ended. */
  readonly refusalFormat: RefusalFormat;
  /** Serves calls of other threads. */
  readonly serveCall: ServeThreadCall;
  /** Called before this thread serves. `calls`: calls to other threads. */
  readonly open: (gateway: GatewayContext, calls: ThreadCalls) => void;
}

/** Ports to another thread. */
export interface ThreadPorts {
  /** Index of the other thread. */
  readonly index: number;
  readonly requests: MessagePort;
  readonly calls: MessagePort;
}

/**
 * Hands requests over to the threads that own their state, whole and before anything was done with them: each request is
 * decided, counted and logged once, where it is served. The thread with the connection only forwards bytes.
 */
export class Handover {
  readonly #thread: number;
  readonly #settings: HandoverSettings;
  readonly #ports = new Map<string, RequestPort>();
  /** Calls for state that cannot be derived from a request's head. */
  readonly #calls: ThreadCalls;
  readonly #links = new ThreadLinks<HandoverMessage>((first, line) => this.#receive(first, line));

  /** `thread`: index of this thread. */
  constructor(thread: number, settings: HandoverSettings) {
    this.#calls = new ThreadCalls(settings.serveCall);
    this.#thread = thread;
    this.#settings = settings;
  }

  /** Adds the ports to the thread of this index. */
  link({ index, requests, calls }: ThreadPorts): void {
    this.#links.add(index, requests);
    this.#calls.link(index, calls);
  }

  /** Returns the port with this name in every thread. */
  port(name: string): PortHandover {
    return {
      open: (port) => {
        this.#ports.set(name, port);
        this.#calls.gateway = port.gateway;
        this.#settings.open(port.gateway, this.#calls);
      },
      takes: (request, response, framing) => {
        const owner = this.#settings.ownerOf(request);
        if (owner === undefined || owner === this.#thread) return false;
        // Tunnels never belong to a thread.
        if (response.tunnel !== undefined) return false;
        const given = { request, response, framing, givenAt: performance.now() };
        const away = new ForwardedRequest(given, (isResponded) =>
          this.#lose(name, given, isResponded),
        );
        const line = this.#links.open(owner, away);
        // The owner's state is lost, so the request is served as after a restart of the process.
        if (line === undefined) return false;
        away.start(line, name);
        return true;
      },
    };
  }

  #lose(port: string, given: GivenRequest, isResponded: boolean): void {
    const own = this.#ports.get(port);
    if (own !== undefined) endLost(given, own, this.#settings.refusalFormat, isResponded);
  }

  #receive(
    first: HandoverMessage,
    line: ThreadLine<HandoverMessage>,
  ): LineListener<HandoverMessage> {
    const port = first.kind === "request" ? this.#ports.get(first.port) : undefined;
    if (first.kind === "request" && port !== undefined) return served(first, line, port);
    // The thread was restarted, so the state is not there.
    line.send({ kind: "gone" });
    line.hangUp();
    return { onMessage: () => {}, onLost: () => {} };
  }
}

function served(
  head: HandedOver,
  line: ThreadLine<HandoverMessage>,
  port: RequestPort,
): LineListener<HandoverMessage> {
  const request = new HandedOverRequest(head, line);
  const response = new HandedOverResponse(line, head.upgrade, request);
  acceptRequest(request, response, head.framing, port);
  const close = (isFinished: boolean) => {
    if (!isFinished) request.abort();
    response.close(isFinished);
  };
  return {
    onMessage: (message) => {
      switch (message.kind) {
        case "body":
          request.received(message.bytes);
          return;
        case "bodyEnd":
          request.ended(message.trailers);
          return;
        case "bodyAbort":
          request.abort();
          return;
        case "sent":
          response.taken(message.bytes);
          return;
        case "close":
          line.hangUp();
          close(message.isFinished);
          return;
        default:
      }
    },
    onLost: () => close(false),
  };
}
