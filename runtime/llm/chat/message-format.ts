import type { JsonObject } from "../../cel/variables.ts";
import type { ClientFormat, StreamReader, UpstreamFormat } from "./formats.ts";
import type { ChatRequest } from "./request.ts";
import { type Completion, streamedCompletion } from "./streamed-completion.ts";

/** Reads the messages of calls in the format of a client, for their capture. */
export interface MessageFormat {
  /** Reads a request. Throws LlmRefusal if only its own format can express it. */
  readRequest(body: JsonObject): ChatRequest;
  /** Reads a whole response: one completion for each choice. Throws if it has another shape. */
  readResponse(body: JsonObject): readonly Completion[];
  /** Reads a stream as far as it was captured: one completion for each choice. */
  readStream(bytes: Buffer): readonly Completion[];
}

/** Returns the reader of a format whose responses have one choice. */
export function messageFormat(
  { readRequest }: Pick<ClientFormat, "readRequest">,
  { readResponse, openStream }: Pick<UpstreamFormat, "readResponse" | "openStream">,
): MessageFormat {
  return {
    readRequest,
    readResponse: (body) => [readResponse(body)],
    readStream: (bytes) => [readCompletion(openStream(bytes.length + 1), bytes)],
  };
}

function readCompletion(reader: StreamReader, bytes: Buffer): Completion {
  return streamedCompletion([...reader.push(bytes), ...reader.end()]);
}
