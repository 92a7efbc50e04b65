import type { GatewayResource } from "../config/resources.ts";
import type { Program } from "../ir/program.ts";

/** Maximum bytes of a buffered body by default. */
const BUFFER_SIZE = 2_097_152;
/** The same for requests to models: Anthropic's limit, the highest of the providers that state one. */
const MODEL_BUFFER_SIZE = 33_554_432;

/** Returns the maximum sizes of buffered bodies. A single request cannot buffer more than the process as a whole. */
export function bufferSizes({
  frontend: { maxBufferSize },
  process: { maxBufferedBytes = Number.POSITIVE_INFINITY },
}: GatewayResource): Pick<Program, "maxBufferSize" | "maxModelBufferSize"> {
  return {
    maxBufferSize: Math.min(maxBufferSize ?? BUFFER_SIZE, maxBufferedBytes),
    maxModelBufferSize: Math.min(maxBufferSize ?? MODEL_BUFFER_SIZE, maxBufferedBytes),
  };
}
