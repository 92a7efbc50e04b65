import type { Feature, Reading } from "./features.ts";

/** A format that providers speak, as their servers speak it. */
export interface Upstream {
  /** Of the events of a stream. */
  readonly streamType: string;
  /** A whole response. */
  whole(said: Reading): string;
  /** The events of a whole stream. */
  events(said: Reading): readonly (string | Buffer)[];
  /** How many of them are its end: without them a stream is cut off. */
  readonly endings: number;
  /** How it says that something went wrong. */
  error(status: number): UpstreamError;
  /** The same within a stream. */
  readonly errorEvent: string | Buffer;
  /** Returns a value that a request with a feature must match. */
  asked(feature: Feature): object;
  /** Returns a value that the request with the results of the calls must match. */
  replayed(feature: Feature): object;
}

/** A response to a request that failed. */
export interface UpstreamError {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The id of a call, by its place among the others. */
export function callId(index: number): string {
  return `call_${index + 1}`;
}

/** The events of a stream of server-sent events, without names. */
export function dataEvents(values: readonly object[]): readonly string[] {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`);
}

/** An event of a stream that says what it is. */
export interface TypedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The same with the names that their types are. */
export function namedEvents(values: readonly TypedEvent[]): readonly string[] {
  return values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`);
}
