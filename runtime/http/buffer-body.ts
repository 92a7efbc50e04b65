import { type MaybePromise, thenMaybe } from "../process/maybe-promise.ts";
import { type BodyProblem, type BodySink, type BodySource, isBodySource } from "./body/body.ts";
import { type DecodeProblem, decodeBody, isCoded } from "./body/content-coding.ts";
import type { CountedBuffer } from "./body/counted-buffer.ts";
import { withTrailers } from "./body/trailed-body.ts";
import type { Exchange, RefusalReason } from "./exchange.ts";
import { refuse } from "./refuse.ts";

/** Response to a request whose body cannot be read. */
export interface BodyRefusal {
  readonly status: number;
  readonly reason: RefusalReason;
  readonly message: string;
  /** Flat list. */
  readonly headers?: readonly string[];
}

/** Responses by problem. */
const bodyRefusals: Readonly<Record<Exclude<BodyProblem, "aborted"> | DecodeProblem, BodyRefusal>> =
  {
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

/** Setting that limits the bodies which are buffered, unless a policy has its own. */
const GENERAL_SETTING = "maxBufferSize";

/**
 * Returns the response to a request whose body cannot be read within a limit of bytes. A body that is larger than all buffers
 * of the process never has room, however often it is sent.
 */
function refusalOf(
  problem: keyof typeof bodyRefusals,
  limit: number,
  exchange: Exchange,
  setting: string | null,
): BodyRefusal {
  const { limit: room } = exchange.gateway.buffers;
  const isEndless = Number(exchange.header("content-length") ?? 0) > room;
  const isTooLarge = problem === "too-large" || (problem === "no-room" && isEndless);
  if (!isTooLarge) return bodyRefusals[problem];
  const field = limit < room ? setting : "config.maxBufferedBytes";
  const named = field === null ? "" : ` (${field})`;
  const message = `request body larger than ${Math.min(limit, room)} bytes${named}`;
  return { ...bodyRefusals["too-large"], message };
}

/**
 * Returns the whole request body, synchronously if it has arrived. Returns `undefined` if the request was refused (413 beyond
 * `limit` bytes, 408, 503), or if the client has left. `setting`: name of the setting that raises the limit; `null` if there is
 * none.
 */
export function readWhole(
  exchange: Exchange,
  limit: number,
  setting: string | null = GENERAL_SETTING,
): MaybePromise<Buffer | undefined> {
  return thenMaybe(exchange.readBody(limit), (body) => {
    if (typeof body !== "string") return body;
    if (body !== "aborted") refuseBody(exchange, refusalOf(body, limit, exchange, setting));
    return undefined;
  });
}

/** The beginning of a request's body. */
export interface BodyBeginning {
  readonly bytes: Buffer;
  /** Whether there is more. */
  readonly isPart: boolean;
  /** Replaces these bytes in the forwarded body. */
  replace(bytes: Uint8Array): void;
}

/**
 * Returns at most `limit` bytes of the request's body, which is still forwarded as a whole. Resolves with `undefined` if the
 * request was refused (503), or if the client has left.
 */
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

/** Replaces a body that was read; its trailers stay. */
export function replaceWhole(exchange: Exchange, bytes: Uint8Array): void {
  const { body } = exchange;
  exchange.setRequestBody(withTrailers(bytes, isBodySource(body) ? body.trailers : undefined));
}

/**
 * Waits until the request's body can be read by expressions (`request.body`): its decoded content. Synchronous if it has
 * arrived. Returns false if the request was refused (as by `readWhole`, also for the decoded size; 415, 400), or if the client
 * has left.
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
    if (body !== "aborted") refuseBody(exchange, refusalOf(body, limit, exchange, GENERAL_SETTING));
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
    refuseBody(exchange, refusalOf(content, limit, exchange, GENERAL_SETTING));
    return false;
  }
  exchange.bufferedBody = content;
  return true;
}

/** Responds to a request whose body cannot be read. */
function refuseBody(exchange: Exchange, { status, reason, message, headers }: BodyRefusal): void {
  refuse(exchange, status, reason, message, headers);
}

/** A body whose beginning can be inspected before it flows on. */
class PeekedBody implements BodySource {
  length: number | undefined;
  readonly #source: BodySource;
  #beginning: Buffer | undefined;
  #hasEnded = false;
  #hasAborted = false;
  #isPaused = false;
  #sink: BodySink | undefined;
  #onPiece: ((piece: Buffer) => void) | undefined;
  #onStop: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
    this.length = source.length;
  }

  get trailers(): readonly string[] | undefined {
    return this.#source.trailers;
  }

  /**
   * Returns the beginning: more than `limit` bytes if there are more. Resolves with `undefined` if the sender left or the
   * budget is exhausted.
   */
  peek(limit: number, buffer: CountedBuffer): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const stop = () => {
        this.#onPiece = undefined;
        this.#onStop = undefined;
        this.#source.pause();
        this.#beginning = this.#hasAborted ? undefined : buffer.bytes();
        resolve(this.#beginning);
      };
      this.#onStop = stop;
      const take = (piece: Buffer) => {
        if (!buffer.push(piece)) this.#hasAborted = true;
        if (this.#hasAborted || buffer.length > limit) stop();
      };
      this.#onPiece = take;
      this.#source.flow({
        onData: (piece) => (this.#onPiece ?? ((each) => this.#sink?.onData(each)))(piece),
        onEnd: () => {
          this.#hasEnded = true;
          this.#onStop?.();
          this.#sink?.onEnd();
        },
        onAbort: () => {
          this.#hasAborted = true;
          this.#onStop?.();
          this.#sink?.onAbort();
        },
      });
    });
  }

  /** Replaces the beginning. */
  replace(beginning: Buffer): void {
    const before = this.#beginning?.length ?? 0;
    if (this.length !== undefined) this.length += beginning.length - before;
    this.#beginning = beginning;
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    const beginning = this.#beginning;
    this.#beginning = undefined;
    if (beginning !== undefined && beginning.length > 0) sink.onData(beginning);
    if (this.#hasEnded) sink.onEnd();
    else if (this.#hasAborted) sink.onAbort();
    else if (!this.#isPaused) this.#source.resume();
  }

  pause(): void {
    this.#isPaused = true;
    this.#source.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#source.resume();
  }

  discard(): void {
    this.#sink = undefined;
    this.#source.discard();
  }
}
