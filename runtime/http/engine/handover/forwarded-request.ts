import type { LineListener, ThreadLine } from "../../../process/thread-links.ts";
import type { BodySink, BodySource } from "../../body/body.ts";
import type { EngineConnection, EngineRequest, EngineResponse } from "../engine.ts";
import {
  type HandedBack,
  type HandedOverConnection,
  type HandoverMessage,
  handoverWindow,
  ownBytes,
} from "./handover-message.ts";
import type { GivenRequest } from "./lost-request.ts";

/** A request on a connection of this thread that another thread serves. */
export class ForwardedRequest implements LineListener<HandoverMessage>, BodySink {
  readonly #given: GivenRequest;
  readonly #request: EngineRequest;
  readonly #response: EngineResponse;
  /** Source of the client's bytes: its request, or its connection after a switch of protocols. */
  #client: Pick<BodySource, "flow" | "pause" | "resume" | "discard">;
  readonly #lose: (isResponded: boolean) => void;
  #line: ThreadLine<HandoverMessage> | undefined;
  /** Bytes of the body that the other thread has not read. */
  #unread = 0;
  /** Bytes of the response that were passed to the client and not yet reported to the other thread. */
  #sent = 0;
  #isFull = false;
  /** Whether the whole response has arrived. */
  #isResponded = false;

  /** `lose`: called if the other thread ends before the response does. */
  constructor(given: GivenRequest, lose: (isResponded: boolean) => void) {
    const { request, response } = given;
    this.#given = given;
    this.#request = request;
    this.#client = request;
    this.#response = response;
    this.#lose = lose;
    response.on("drain", () => {
      this.#isFull = false;
      this.#confirmSent();
    });
    response.on("close", () => {
      this.#line?.send({ kind: "close", isFinished: response.writableFinished });
      this.#line?.hangUp();
    });
  }

  start(line: ThreadLine<HandoverMessage>, port: string): void {
    this.#line = line;
    const { framing } = this.#given;
    const { method, url, rawHeaders, httpVersion, acceptsTrailers, trailers, socket } =
      this.#request;
    const whole = this.#request.takeWhole?.();
    const body = whole && ownBytes(whole);
    const upgrade = this.#response.upgrade?.protocol;
    const connection = factsOf(socket);
    line.send(
      {
        kind: "request",
        port,
        method,
        url,
        rawHeaders,
        httpVersion,
        acceptsTrailers,
        framing,
        connection,
        body,
        trailers,
        upgrade,
      },
      body === undefined ? [] : [body.buffer],
    );
  }

  onMessage(message: HandoverMessage): void {
    switch (message.kind) {
      case "response":
        this.#write(message);
        return;
      case "flow":
        this.#client.flow(this);
        return;
      case "read":
        this.#unread -= message.bytes;
        if (this.#unread < handoverWindow.max) this.#client.resume();
        return;
      case "discard":
        this.#client.discard();
        return;
      case "continue":
        this.#response.writeContinue();
        return;
      case "switch":
        this.#switch(message.fields);
        return;
      case "destroy":
        this.#response.destroy();
        return;
      case "reset":
        this.#request.socket.resetAndDestroy();
        return;
      case "gone":
        this.#line?.hangUp();
        this.onLost();
        return;
      default:
    }
  }

  onLost(): void {
    this.#line = undefined;
    this.#lose(this.#isResponded);
  }

  onData(chunk: Buffer): void {
    this.#unread += chunk.length;
    if (this.#unread >= handoverWindow.max) this.#client.pause();
    const bytes = ownBytes(chunk);
    this.#line?.send({ kind: "body", bytes }, [bytes.buffer]);
  }

  onEnd(): void {
    this.#line?.send({ kind: "bodyEnd", trailers: this.#request.trailers });
  }

  onAbort(): void {
    this.#line?.send({ kind: "bodyAbort" });
  }

  #switch(fields: readonly string[]): void {
    const { upgrade } = this.#response;
    if (upgrade !== undefined) this.#client = upgrade.accept(fields);
  }

  #write({ head, bytes, trailers, isLast }: HandedBack): void {
    const response = this.#response;
    if (head !== undefined) response.writeHead(head.status, head.fields);
    if (trailers !== undefined) response.setTrailers(trailers);
    if (isLast) {
      this.#isResponded = true;
      response.end(bytes);
    } else if (bytes === undefined) response.flushHead();
    else {
      this.#sent += bytes.length;
      if (!response.write(bytes)) this.#isFull = true;
      else if (this.#sent >= handoverWindow.confirmAfter && !this.#isFull) this.#confirmSent();
    }
  }

  #confirmSent(): void {
    if (this.#sent === 0) return;
    this.#line?.send({ kind: "sent", bytes: this.#sent });
    this.#sent = 0;
  }
}

function factsOf(connection: EngineConnection): HandedOverConnection {
  const { remoteAddress, remotePort, peerAddress, peerPort, servername } = connection;
  const { localAddress, localPort, encrypted } = connection;
  const isAuthorized = connection.authorized === true;
  const shown = isAuthorized ? connection.getPeerX509Certificate?.() : undefined;
  const { subject, issuer, subjectAltName } = shown ?? {};
  return {
    remoteAddress,
    remotePort,
    peerAddress,
    peerPort,
    localAddress,
    localPort,
    encrypted: encrypted === true,
    servername: typeof servername === "string" ? servername : undefined,
    authorized: isAuthorized,
    certificate: shown && { subject, issuer, subjectAltName, raw: shown.raw },
  };
}
