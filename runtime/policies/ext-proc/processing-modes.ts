import type { ProcessingMode } from "../../grpc/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode_pb.ts";

/**
 * How a processor receives the body of a message: not; in pieces, with a response to each; whole; only its beginning; or in
 * pieces while it sends its own pieces at any time.
 */
export type BodyMode = "none" | "streamed" | "buffered" | "bufferedPartial" | "fullDuplex";

/** Whether a processor receives the head or the trailers of a message. */
export type PartMode = "send" | "skip";

/** The parts of a request and its response that a processor receives. */
export interface ProcessingModes {
  readonly requestHeaders: PartMode;
  readonly requestBody: BodyMode;
  readonly requestTrailers: PartMode;
  readonly responseHeaders: PartMode;
  readonly responseBody: BodyMode;
  readonly responseTrailers: PartMode;
}

/** The numbers of the modes in the protocol (`ProcessingMode.BodySendMode`). */
export const bodyModeNumber = {
  none: 0,
  streamed: 1,
  buffered: 2,
  bufferedPartial: 3,
  fullDuplex: 4,
} as const;

const BODY_MODES: readonly BodyMode[] = [
  "none",
  "streamed",
  "buffered",
  "bufferedPartial",
  "fullDuplex",
];

/** Applies the modes that a processor requests. The head of the request has already been sent. */
export function overriddenModes(modes: ProcessingModes, wanted: ProcessingMode): ProcessingModes {
  return {
    ...modes,
    requestBody: overridden(modes.requestBody, wanted.requestBodyMode),
    requestTrailers: partModes[wanted.requestTrailerMode] ?? modes.requestTrailers,
    responseHeaders: partModes[wanted.responseHeaderMode] ?? modes.responseHeaders,
    responseBody: overridden(modes.responseBody, wanted.responseBodyMode),
    responseTrailers: partModes[wanted.responseTrailerMode] ?? modes.responseTrailers,
  };
}

/** By the numbers in the protocol (`ProcessingMode.HeaderSendMode`); the first one changes nothing. */
const partModes: readonly (PartMode | undefined)[] = [undefined, "send", "skip"];

/** Full duplex is negotiated before the first message, so that a body can neither switch to it nor leave it. */
function overridden(mode: BodyMode, wanted: number): BodyMode {
  const other = BODY_MODES[wanted] ?? mode;
  return mode === "fullDuplex" || other === "fullDuplex" ? mode : other;
}
