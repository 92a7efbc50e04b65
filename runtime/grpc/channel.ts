import {
  create,
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { grpcStatus } from "../http/grpc-status.ts";
import { replaceHeader } from "../http/headers/header-list.ts";
import { modifiedHeaders } from "../http/headers/header-modifier.ts";
import type { UpstreamSettings } from "../http/upstream/upstream.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { OnAbort } from "../process/on-abort.ts";
import type { CallStream, SharedConnection } from "../process/shared-connection.ts";
import { frameOf } from "./frames.ts";
import { GrpcResponse } from "./grpc-response.ts";
import { type GrpcTarget, openGrpcConnection, openGrpcTarget } from "./node/grpc-connection.ts";
import { GrpcError } from "./status.ts";

/** What goes with a call besides its message. */
export interface CallOptions {
  /** Milliseconds to the end of the call, which are sent along; undefined: no limit. */
  readonly deadline: number | undefined;
  /** A flat list of further metadata. */
  readonly metadata?: readonly string[];
  /** Registers who breaks a call of one message each way off before its end; absent: nobody does. */
  readonly onAbort?: OnAbort;
  /** Milliseconds until a call of messages both ways has begun: until there is a connection. Absent: as long as that may take. */
  readonly beginsWithin?: number;
}

/** A call whose messages go both ways at any time. */
export interface MessageStream<Message extends DescMessage> {
  /** False: the server reads slowly; wait for `onDrain`. */
  send(message: MessageInitShape<Message>): boolean;
  /** Called each time a full buffer was emptied. One listener; the last one set counts. */
  onDrain(listener: () => void): void;
  /** Nothing more is sent. */
  end(): void;
  cancel(): void;
  /** Breaks it off for want of a response; whether anybody is at the other end of the connection is found out. */
  giveUp(): void;
  pause(): void;
  resume(): void;
}

/** What the other side of a `MessageStream` says. */
export interface MessageHandler<Message extends DescMessage> {
  onMessage(message: MessageShape<Message>): void;
  /** The end, once; undefined: the server said that all is well. */
  onEnd(error: GrpcError | undefined): void;
}

/**
 * Opens the way to a gRPC server. Nothing is connected before the first call; calls of all routes that lead to the same
 * server in the same way share one connection. Throws StartupError on a malformed URL or a file of TLS that can't be used.
 */
export function openGrpcChannel(settings: UpstreamSettings): GrpcChannel {
  return new GrpcChannel(settings);
}

/** The way to a gRPC server. */
class GrpcChannel {
  /** `host:port`, for logs. */
  readonly name: string;
  readonly #settings: UpstreamSettings;
  readonly #target: GrpcTarget;
  #connection: SharedConnection | undefined;

  constructor(settings: UpstreamSettings) {
    this.#settings = settings;
    this.#target = openGrpcTarget(settings);
    this.name = this.#target.name;
  }

  /** Makes a call of one message each way. Rejects with GrpcError. A call that the server has not seen is made again, once. */
  async call<Request extends DescMessage, Response extends DescMessage>(
    gateway: Pick<GatewayContext, "connections">,
    method: DescMethodUnary<Request, Response>,
    request: MessageInitShape<Request>,
    options: CallOptions,
  ): Promise<MessageShape<Response>> {
    const message = toBinary(method.input, create(method.input, request));
    return this.callEncoded(gateway, method, frameOf(message), options);
  }

  /** The same with a message that is encoded, in its frame (`frameOf`). */
  async callEncoded<Request extends DescMessage, Response extends DescMessage>(
    gateway: Pick<GatewayContext, "connections">,
    method: DescMethodUnary<Request, Response>,
    frame: Buffer,
    options: CallOptions,
  ): Promise<MessageShape<Response>> {
    const head = await this.#head(method, options);
    const once = () => this.#callOnce(this.#connectionIn(gateway), head, frame, options);
    const response = await once().catch((error: unknown) => {
      if (error instanceof GrpcError && error.isUnseen) return once();
      throw error;
    });
    return decoded(method.output, response);
  }

  /** Starts a call of messages in both directions. Rejects with GrpcError when there is no connection, or not in time. */
  async stream<Request extends DescMessage, Response extends DescMessage>(
    gateway: Pick<GatewayContext, "connections">,
    method: DescMethodBiDiStreaming<Request, Response>,
    handler: MessageHandler<Response>,
    options: CallOptions,
  ): Promise<MessageStream<Request>> {
    const { input, output } = method;
    const reader = new GrpcResponse({
      onMessage: (bytes) => {
        try {
          handler.onMessage(decoded(output, bytes));
        } catch (error) {
          if (!(error instanceof GrpcError)) throw error;
          reader.fail(error);
          stream.cancel();
        }
      },
      onEnd: (error) => handler.onEnd(error),
    });
    const head = await this.#head(method, options);
    const connection = this.#connectionIn(gateway);
    const stream = await begun(connection.start(head, reader), options.beginsWithin);
    reader.onMisread(() => stream.cancel());
    return {
      send: (message) => stream.write(frameOf(toBinary(input, create(input, message)))),
      onDrain: (listener) => stream.onDrain(listener),
      end: () => stream.end(),
      cancel: () => stream.cancel(),
      giveUp: () => {
        stream.cancel();
        connection.suspect();
      },
      pause: () => stream.pause(),
      resume: () => stream.resume(),
    };
  }

  #callOnce(
    connection: SharedConnection,
    head: readonly string[],
    frame: Buffer,
    { deadline, onAbort }: CallOptions,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let stream: CallStream | undefined;
      let response: Uint8Array | undefined;
      let isOver = false;
      const giveUp = (code: number, message: string) => {
        if (isOver) return;
        reader.fail(new GrpcError(code, message));
        stream?.cancel();
      };
      const timer =
        deadline &&
        setTimeout(() => {
          giveUp(grpcStatus.deadlineExceeded, `no response in ${deadline} ms`);
          connection.suspect();
        }, deadline);
      const reader = new GrpcResponse({
        onMessage: (message) => {
          if (response === undefined) {
            response = message;
            return;
          }
          giveUp(grpcStatus.internal, "two messages in response to one");
        },
        onEnd: (error) => {
          isOver = true;
          clearTimeout(timer);
          if (error !== undefined) reject(error);
          else if (response !== undefined) resolve(response);
          else reject(new GrpcError(grpcStatus.internal, "a status of success without a message"));
        },
      });
      onAbort?.(() => giveUp(grpcStatus.cancelled, "nobody waits for the response"));
      if (isOver) return;
      connection.start(head, reader).then(
        (started) => {
          stream = started;
          reader.onMisread(() => started.cancel());
          if (isOver) started.cancel();
          else started.end(frame);
        },
        (error: Error) => reader.fail(new GrpcError(grpcStatus.unavailable, error.message)),
      );
    });
  }

  /** The connection of this process: one for all channels that lead to the same server in the same way. */
  #connectionIn({ connections }: Pick<GatewayContext, "connections">): SharedConnection {
    if (this.#connection !== undefined) return this.#connection;
    const { key } = this.#target;
    const found = connections.get(key) ?? openGrpcConnection(this.#target);
    connections.set(key, found);
    this.#connection = found;
    return found;
  }

  async #head(
    { parent, name }: DescMethodUnary | DescMethodBiDiStreaming,
    { deadline, metadata = [] }: CallOptions,
  ): Promise<readonly string[]> {
    const { authorization, credential, requestHeaders } = this.#settings;
    const path = `/${parent.typeName}/${name}`;
    const own = requestHeaders === undefined ? metadata : modifiedHeaders(metadata, requestHeaders);
    const headers = ["te", "trailers", "content-type", "application/grpc"];
    if (deadline !== undefined) headers.push("grpc-timeout", timeoutText(deadline));
    headers.push("grpc-accept-encoding", "identity", ...own);
    if (authorization !== undefined) {
      const value = typeof authorization === "string" ? authorization : authorization();
      replaceHeader(headers, "authorization", value);
    }
    await credential?.({ method: "POST", path, headers, body: null });
    const { scheme, authority } = this.#target;
    return [
      ...[":method", "POST", ":scheme", scheme, ":authority", authority, ":path", path],
      ...headers,
    ];
  }
}

export type { GrpcChannel };

/** Milliseconds, of which at most eight digits may stand (grpc.io, PROTOCOL-HTTP2: TimeoutValue). */
function timeoutText(milliseconds: number): string {
  return milliseconds < 1e8 ? `${Math.ceil(milliseconds)}m` : `${Math.ceil(milliseconds / 1000)}S`;
}

function decoded<Message extends DescMessage>(
  schema: Message,
  bytes: Uint8Array,
): MessageShape<Message> {
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw new GrpcError(grpcStatus.internal, `not a message of type ${schema.typeName}`);
  }
}

/** A call that has begun in time; one that begins later is broken off. */
function begun(start: Promise<CallStream>, time: number | undefined): Promise<CallStream> {
  return new Promise((resolve, reject) => {
    let isOverdue = false;
    const timer =
      time &&
      setTimeout(() => {
        isOverdue = true;
        reject(new GrpcError(grpcStatus.deadlineExceeded, `no connection within ${time} ms`));
      }, time);
    start
      .then((stream) => (isOverdue ? stream.cancel() : resolve(stream)))
      .catch((error: Error) => reject(new GrpcError(grpcStatus.unavailable, error.message)))
      .finally(() => clearTimeout(timer));
  });
}
