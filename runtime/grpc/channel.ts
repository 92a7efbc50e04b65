import {
  create,
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodServerStreaming,
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

/** Options of a call. */
export interface CallOptions {
  /** Maximum milliseconds for the call, which the server also receives; `undefined` if unlimited. */
  readonly deadline: number | undefined;
  /** A flat list of further metadata. */
  readonly metadata?: readonly string[];
  /** Registers the callback that aborts a unary call; absent if nothing aborts it. */
  readonly onAbort?: OnAbort;
  /** Maximum milliseconds until a streaming call has a connection; absent if unlimited. */
  readonly beginsWithin?: number;
}

/** A unary method whose requests are encoded by the caller. */
export interface EncodedMethod<Response> {
  /** `/SERVICE/METHOD`. */
  readonly path: string;
  /** Throws if the bytes are no such message. */
  readonly decode: (bytes: Uint8Array) => Response;
}

/** Returns a method as generated code describes it, for requests that are already encoded. */
export function encodedMethod<Response extends DescMessage>(
  method: DescMethodUnary<DescMessage, Response>,
): EncodedMethod<MessageShape<Response>> {
  return { path: pathOf(method), decode: (bytes) => fromBinary(method.output, bytes) };
}

function pathOf({
  parent,
  name,
}: DescMethodUnary | DescMethodBiDiStreaming | DescMethodServerStreaming): string {
  return `/${parent.typeName}/${name}`;
}

/** A call with several messages. */
export interface MessageStream<Message extends DescMessage> {
  /** Returns false if the caller must wait for `onDrain`. */
  send(message: MessageInitShape<Message>): boolean;
  /** Called each time that a full buffer was emptied. There is one listener; the last one set counts. */
  onDrain(listener: () => void): void;
  /** Ends the sending side. */
  end(): void;
  cancel(): void;
  /** Aborts the call for lack of a response, and checks whether the connection is still alive. */
  giveUp(): void;
  pause(): void;
  resume(): void;
}

/** Receives the messages of a `MessageStream`. */
export interface MessageHandler<Message extends DescMessage> {
  onMessage(message: MessageShape<Message>): void;
  /** The end of the stream. Called once; `undefined` if the status is OK. */
  onEnd(error: GrpcError | undefined): void;
}

/**
 * Opens a channel to a gRPC server. Nothing is connected before the first call; the calls of all routes to the same server
 * with the same settings share one connection. Throws StartupError on a malformed URL or an unusable TLS file.
 */
export function openGrpcChannel(settings: UpstreamSettings): GrpcChannel {
  return new GrpcChannel(settings);
}

/** A channel to a gRPC server. */
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

  /** Makes a unary call. Rejects with GrpcError. A call that the server has not processed is retried once. */
  async call<Request extends DescMessage, Response extends DescMessage>(
    gateway: Pick<GatewayContext, "connections">,
    method: DescMethodUnary<Request, Response>,
    request: MessageInitShape<Request>,
    options: CallOptions,
  ): Promise<MessageShape<Response>> {
    const message = toBinary(method.input, create(method.input, request));
    return this.callEncoded(gateway, encodedMethod(method), frameOf(message), options);
  }

  /** Makes a unary call with an encoded message in its frame (`frameOf`). */
  async callEncoded<Response>(
    gateway: Pick<GatewayContext, "connections">,
    { path, decode }: EncodedMethod<Response>,
    frame: Buffer,
    options: CallOptions,
  ): Promise<Response> {
    const head = await this.#head(path, options);
    const once = () => this.#callOnce(this.#connectionIn(gateway), head, frame, options);
    const response = await once().catch((error: unknown) => {
      if (error instanceof GrpcError && error.isUnseen) return once();
      throw error;
    });
    try {
      return decode(response);
    } catch {
      throw new GrpcError(grpcStatus.internal, `not a response of ${path}`);
    }
  }

  /**
   * Starts a call with any number of messages in both directions, or one request and any number of responses. Rejects with
   * GrpcError if there is no connection in time.
   */
  async stream<Request extends DescMessage, Response extends DescMessage>(
    gateway: Pick<GatewayContext, "connections">,
    method:
      | DescMethodBiDiStreaming<Request, Response>
      | DescMethodServerStreaming<Request, Response>,
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
    const head = await this.#head(pathOf(method), options);
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
          giveUp(grpcStatus.internal, "two messages in response to a unary call");
        },
        onEnd: (error) => {
          isOver = true;
          clearTimeout(timer);
          if (error !== undefined) reject(error);
          else if (response !== undefined) resolve(response);
          else reject(new GrpcError(grpcStatus.internal, "status OK without a message"));
        },
      });
      onAbort?.(() => giveUp(grpcStatus.cancelled, "the client has disconnected"));
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

  /** Returns the connection of this process: one for all channels to the same server with the same settings. */
  #connectionIn({ connections }: Pick<GatewayContext, "connections">): SharedConnection {
    if (this.#connection !== undefined) return this.#connection;
    const { key } = this.#target;
    const found = connections.get(key) ?? openGrpcConnection(this.#target);
    connections.set(key, found);
    this.#connection = found;
    return found;
  }

  async #head(path: string, { deadline, metadata = [] }: CallOptions): Promise<readonly string[]> {
    const { authorization, credential, requestHeaders } = this.#settings;
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

/** Formats a timeout in at most eight digits (grpc.io, PROTOCOL-HTTP2: TimeoutValue). */
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

/** Returns the started call; cancels it if it starts too late. */
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
