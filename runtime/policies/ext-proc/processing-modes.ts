import type { ProcessingMode } from "../../grpc/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode_pb.ts";

/**
 * How a processor gets the body of a message: not at all; piece by piece, each with a response of its own; whole; its
 * beginning; or piece by piece while it sends its own pieces whenever it likes.
 */
export type BodyMode = "none" | "streamed" | "buffered" | "bufferedPartial" | "fullDuplex";

/** Whether a processor gets a part of a message: its head, or its trailers. */
export type PartMode = "send" | "skip";

/** What a processor gets of a request and of its response. */
export interface ProcessingModes {
  readonly requestHeaders: PartMode;
  readonly requestBody: BodyMode;
  readonly requestTrailers: PartMode;
  readonly responseHeaders: PartMode;
  readonly responseBody: BodyMode;
  readonly responseTrailers: PartMode;
}

/** The numbers of the modes on the wire (`ProcessingMode.BodySendMode`). */
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

/** The modes as a processor wants them from here on, where it may. The head of the request is what it looks at. */
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

/** By the numbers on the wire (`ProcessingMode.HeaderSendMode`); the first leaves it as it is. */
const partModes: readonly (PartMode | undefined)[] = [undefined, "send", "skip"];

/** Full duplex is agreed on before the first message: no body begins with it, and none leaves it. */
function overridden(mode: BodyMode, wanted: number): BodyMode {
  const other = BODY_MODES[wanted] ?? mode;
  return mode === "fullDuplex" || other === "fullDuplex" ? mode : other;
}
