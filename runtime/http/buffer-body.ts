import { type MaybePromise, thenMaybe } from "../process/maybe-promise.ts";
import { type BodyProblem, isBodySource } from "./body/body.ts";
import { type DecodeProblem, decodeBody, isCoded } from "./body/content-coding.ts";
import { PeekedBody } from "./body/peeked-body.ts";
import { withTrailers } from "./body/trailed-body.ts";
import type { Exchange, RefusalReason } from "./exchange.ts";
import { refuse } from "./refuse.ts";

/** The response to a request whose body can't be read. */
export interface BodyRefusal {
  readonly status: number;
  readonly reason: RefusalReason;
  readonly message: string;
  /** A flat list. */
  readonly headers?: readonly string[];
}

/** What a client gets whose request body can't be read; when it has left, nothing. */
export const bodyRefusals: Readonly<
  Record<Exclude<BodyProblem, "aborted"> | DecodeProblem, BodyRefusal>
> = {
  "too-large": { status: 413, reason: "BodyTooLarge", message: "request body too large" },
  "too-slow": { status: 408, reason: "SlowBody", message: "request body too slow" },
  "no-room": {
    status: 503,
    reason: "NoBufferSpace",
    message: "too many request bodies at once",
    headers: ["retry-after", "1"],
  },
  unknown: { status: 415, reason: "BadRequest", message: "Content-Encoding is not supported" },
  malformed: {
    status: 400,
    reason: "BadRequest",
    message: "request body is not what Content-Encoding says",
  },
};

/**
 * The whole request body, at once when it has come already; undefined: the request was refused (413 beyond `limit` bytes,
 * 408, 503), or the client is gone.
 */
export function readWhole(exchange: Exchange, limit: number): MaybePromise<Buffer | undefined> {
  return thenMaybe(exchange.readBody(limit), (body) => {
    if (typeof body !== "string") return body;
    if (body !== "aborted") refuseBody(exchange, bodyRefusals[body]);
    return undefined;
  });
}

/** The beginning of a request's body, and the body as it goes on. */
export interface BodyBeginning {
  readonly bytes: Buffer;
  /** There is more. */
  readonly isPart: boolean;
  /** Other bytes go on in the place of these. */
  replace(bytes: Uint8Array): void;
}

/** At most `limit` bytes of the request's body; all of it goes on. Undefined: the request was refused (503), or the client is gone. */
export async function readBeginning(
  exchange: Exchange,
  limit: number,
): Promise<BodyBeginning | undefined> {
  const { body } = exchange;
  if (body === null || body instanceof Uint8Array || (body.length ?? Infinity) <= limit) {
    const whole = await readWhole(exchange, Infinity);
    const rest = whole?.subarray(limit) ?? Buffer.alloc(0);
    return (
      whole && {
        bytes: whole.subarray(0, limit),
        isPart: rest.length > 0,
        replace: (bytes) => replaceWhole(exchange, Buffer.concat([bytes, rest])),
      }
    );
  }
  const peeked = new PeekedBody(body);
  const beginning = await peeked.peek(limit, exchange.newBuffer());
  if (beginning === undefined) {
    if (!exchange.isOver) refuseBody(exchange, bodyRefusals["no-room"]);
    return undefined;
  }
  exchange.setRequestBody(peeked);
  return {
    bytes: beginning.subarray(0, limit),
    isPart: beginning.length > limit,
    replace: (bytes) => peeked.replace(Buffer.concat([bytes, beginning.subarray(limit)])),
  };
}

/** Other bytes go on in the place of a body that was read; what stands behind it stays. */
export function replaceWhole(exchange: Exchange, bytes: Uint8Array): void {
  const { body } = exchange;
  exchange.setRequestBody(withTrailers(bytes, isBodySource(body) ? body.trailers : undefined));
}

/**
 * Holds the request until its body is there, for expressions that read `request.body`: its content, decoded. At once when it
 * has come already. False: the request was refused (as by `readWhole`, also for its decoded size; 415, 400), or the client
 * is gone.
 */
export function bufferBody(exchange: Exchange, limit: number): MaybePromise<boolean> {
  if (exchange.bufferedBody !== undefined) return true;
  return thenMaybe(exchange.readBody(limit), (body) => keepContent(exchange, body, limit));
}

function keepContent(
  exchange: Exchange,
  body: Buffer | BodyProblem,
  limit: number,
): MaybePromise<boolean> {
  if (typeof body === "string") {
    if (body !== "aborted") refuseBody(exchange, bodyRefusals[body]);
    return false;
  }
  const coding = exchange.header("content-encoding");
  if (isCoded(coding)) return decodeContent(exchange, body, coding, limit);
  exchange.bufferedBody = body;
  return true;
}

async function decodeContent(
  exchange: Exchange,
  body: Buffer,
  coding: string,
  limit: number,
): Promise<boolean> {
  const content = await decodeBody(body, coding, limit, exchange.newBuffer());
  if (typeof content === "string") {
    refuseBody(exchange, bodyRefusals[content]);
    return false;
  }
  exchange.bufferedBody = content;
  return true;
}

/** Responds to a request whose body can't be read. */
export function refuseBody(
  exchange: Exchange,
  { status, reason, message, headers }: BodyRefusal,
): void {
  refuse(exchange, status, reason, message, headers);
}
