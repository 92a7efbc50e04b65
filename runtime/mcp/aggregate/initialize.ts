import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { respondRpc, rpcCode, rpcResult } from "../protocol/rpc-response.ts";
import type { Outcome, TargetFailure } from "../protocol/target-failure.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import { respondFailure } from "../session/failure-response.ts";
import { openConnection } from "../session/open-connection.ts";
import { approvedOutcome } from "../session/opening.ts";
import { type LiveParts, newHttpSession, type TargetSession } from "../session/session.ts";
import { callInSession } from "../session/session-call.ts";
import { bridgedContext } from "../session/session-context.ts";
import { sessionTable } from "../session/session-table.ts";
import { openSession, sessionCaller } from "../session/sessions.ts";
import { endTargetSession } from "../session/target-end.ts";
import type { McpBackend } from "../transports/backend.ts";
import { type FanOutCall, fanOut } from "../transports/fan-out.ts";
import { newBridgedSession } from "../transports/session-bridge.ts";
import {
  type Call,
  type CallSink,
  endedCall,
  type McpTarget,
  type StdioTarget,
  type StreamableHttpTarget,
} from "../transports/target.ts";
import { failedTarget } from "./failed-target.ts";
import {
  type InitializeResult,
  mergeInitialize,
  readInitialize,
  singleCallResult,
  withoutSession,
} from "./initialize-result.ts";

/** Opens a session with every target and responds with their merged capabilities. */
export function serveInitialize(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  request: Message,
): void {
  const table = sessionTable(exchange.gateway);
  const needsLive = backend.targets.some((target) => target.kind !== "streamableHttp");
  const caller = sessionCaller(exchange, access);
  const live = needsLive ? table.openLive(backend.sessionLimits, caller) : undefined;
  if (needsLive && live === undefined) {
    refuse(exchange, 503, "MCP", "Too many sessions");
    return;
  }
  const opening = new Opening(exchange, backend, access, request, live);
  opening.start();
}

/** A session that is being opened. */
class Opening {
  readonly #exchange: Exchange;
  readonly #backend: McpBackend;
  readonly #access: McpAuthorization;
  readonly #request: Message;
  readonly #live: LiveParts | undefined;
  /** By index of the target. */
  readonly #sessions: (TargetSession | undefined)[];

  constructor(
    exchange: Exchange,
    backend: McpBackend,
    access: McpAuthorization,
    request: Message,
    live: LiveParts | undefined,
  ) {
    this.#exchange = exchange;
    this.#backend = backend;
    this.#access = access;
    this.#request = request;
    this.#live = live;
    this.#sessions = backend.targets.map(() => undefined);
  }

  start(): void {
    const call = fanOut(
      this.#backend.targets.map((target, index) => this.#callFor(target, index)),
      {
        deadline: this.#backend.timeouts.initialize,
        // The client has no session yet that the message could belong to.
        onMessage: () => true,
        onDone: (outcomes) => this.#finish(outcomes),
      },
    );
    this.#exchange.onAbort(() => {
      call.cancel();
      this.#giveUp();
    });
  }

  #callFor(target: McpTarget, index: number): FanOutCall {
    return (sink) => {
      if (target.kind === "streamableHttp") {
        return target.era.hasSessions === false
          ? this.#discover(target, index, sink)
          : this.#callHttp(target, index, this.#unlessStateless(target, index, sink));
      }
      const live = this.#live;
      // serveInitialize opens live parts whenever a target is live.
      if (live === undefined) throw new Error("a live target without live parts");
      const opened = openConnection(this.#exchange, this.#backend, target, live);
      if ("failure" in opened) {
        sink.onFailure(opened.failure);
        return endedCall;
      }
      this.#sessions[index] = { kind: "live", connection: opened.connection, features: "" };
      if (target.kind === "sse" || target.kind === "openapi")
        return opened.connection.call(this.#request, sink);
      if (target.era.hasSessions === false) return this.#discover(target, index, sink);
      return opened.connection.call(this.#request, this.#unlessStateless(target, index, sink));
    };
  }

  /** Discovers the target without a session if it responds that it supports no revision with sessions. */
  #unlessStateless(
    target: StreamableHttpTarget | StdioTarget,
    index: number,
    sink: CallSink,
  ): CallSink {
    if (this.#backend.toStateless === undefined) return sink;
    return {
      ...sink,
      onResponse: (response) => {
        const isOther = errorCodeOf(response) === rpcCode.unsupportedVersion;
        target.era.noteSessions(!isOther);
        if (isOther) this.#discover(target, index, sink);
        else sink.onResponse(response);
      },
    };
  }

  #discover(target: StreamableHttpTarget | StdioTarget, index: number, sink: CallSink): Call {
    const before = this.#sessions[index];
    const connection = before?.kind === "live" ? before.connection : undefined;
    const session = newBridgedSession("", connection);
    this.#sessions[index] = session;
    const { params, text } = this.#request;
    const owner = { initialize: params && textAt(text, params) };
    const context = { exchange: this.#exchange, backend: this.#backend, session: owner };
    const bridged = bridgedContext(context, { target, session });
    if (bridged !== undefined) return bridged.bridge.open(bridged, this.#request, sink);
    sink.onFailure({ kind: "protocol", detail: "has no sessions" });
    return endedCall;
  }

  #callHttp(target: StreamableHttpTarget, index: number, sink: CallSink) {
    const session = newHttpSession();
    this.#sessions[index] = session;
    const context = {
      exchange: this.#exchange,
      backend: this.#backend,
      session: { initialize: undefined, isEnded: false },
    };
    return callInSession(context, target, session, this.#request, sink);
  }

  #finish(given: readonly Outcome[]): void {
    if (this.#exchange.isOver) {
      this.#giveUp();
      return;
    }
    const { targets, failureMode, prefix, tag = "" } = this.#backend;
    const outcomes = given.map((outcome, index) =>
      approvedOutcome(this.#exchange, this.#access, targets[index]?.name ?? "", outcome),
    );
    const results = outcomes.map((outcome, index) => this.#read(outcome, index));
    const failed = results.findIndex((result) => result.kind === "failure");
    const isAnyOpen = results.some((result) => result.kind === "opened");
    if (failed !== -1 && (failureMode === "failClosed" || !isAnyOpen)) {
      this.#refuse(outcomes[failed], targets[failed]);
      return;
    }
    this.#noteLeftOut(outcomes);
    const only = prefix ? undefined : outcomes[0];
    if (this.#backend.toSingleCalls !== undefined) {
      this.#giveUp();
      const lasting = results.map(withoutSession);
      const result =
        only?.kind === "response"
          ? singleCallResult(only.response)
          : mergeInitialize(this.#backend, lasting);
      respondRpc(this.#exchange, 200, rpcResult(this.#request.id, result));
      return;
    }
    const id = this.#open(results.map((result) => (result.kind === "opened" ? result : undefined)));
    const text =
      only?.kind === "response"
        ? only.response.text
        : rpcResult(this.#request.id, mergeInitialize(this.#backend, results));
    respondRpc(this.#exchange, 200, text, ["mcp-session-id", `${tag}${id}`]);
  }

  #read(outcome: Outcome, index: number): InitializeResult {
    const session = this.#sessions[index];
    // It may have closed while others were initialized.
    const isGone = session?.kind !== "http" && session?.connection?.isOpen === false;
    if (isGone) return { kind: "failure" };
    return readInitialize(outcome);
  }

  /** Opens the session with the results of its targets and returns its id. */
  #open(
    results: readonly ({ readonly version: string; readonly features: string } | undefined)[],
  ): string {
    const targets = this.#sessions.map((session, index): TargetSession | undefined => {
      const result = results[index];
      if (session === undefined || result === undefined) {
        this.#leave(index);
        return undefined;
      }
      const { version, features } = result;
      return session.kind === "http" ? { ...session, version, features } : { ...session, features };
    });
    if (this.#live !== undefined) this.#live.isEstablished = true;
    const { params, text } = this.#request;
    const initialize = params === undefined ? undefined : textAt(text, params);
    const parts = { initialize, targets, live: this.#live };
    return openSession(this.#exchange, this.#backend, this.#access, parts).id;
  }

  #refuse(outcome: Outcome | undefined, target: McpTarget | undefined): void {
    this.#giveUp();
    if (outcome?.kind === "response" && !this.#backend.prefix) {
      // The only target has refused: its own error is forwarded.
      respondRpc(this.#exchange, 200, outcome.response.text);
      return;
    }
    const failure =
      outcome?.kind === "failure"
        ? outcome.failure
        : ({ kind: "protocol", detail: "refused to initialize" } as const);
    if (target === undefined) return;
    respondFailure(this.#exchange, this.#request.id, this.#noteFailure(target, failure));
  }

  /** Logs and counts the targets that the session leaves out. */
  #noteLeftOut(outcomes: readonly Outcome[]): void {
    for (const [index, target] of this.#backend.targets.entries()) {
      const outcome = outcomes[index];
      if (outcome?.kind === "failure") this.#noteFailure(target, outcome.failure);
    }
  }

  #noteFailure(target: McpTarget, failure: TargetFailure): TargetFailure {
    return failedTarget(
      { exchange: this.#exchange, backend: this.#backend, access: this.#access },
      target,
      failure,
    );
  }

  #giveUp(): void {
    for (const index of this.#sessions.keys()) this.#leave(index);
    if (this.#live !== undefined) sessionTable(this.#exchange.gateway).closeLive(this.#live);
  }

  /** Ends the session at a target that was opened in vain. */
  #leave(index: number): void {
    const target = this.#backend.targets[index];
    const session = this.#sessions[index];
    if (target !== undefined && session !== undefined) {
      endTargetSession(this.#exchange, target, session);
    }
  }
}
