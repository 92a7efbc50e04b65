import type { JsonObject } from "../../cel/variables.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import type { LlmError } from "./llm-error.ts";
import type { RequestObject } from "./request-object.ts";

/** Format of a provider for one API whose requests and responses are converted as JSON. */
export interface BodyFormat {
  /** Returns the JSON body for the provider. Throws LlmRefusal for requests that the provider does not support. */
  writeRequest(fields: RequestObject): string;
  /**
   * Returns the response for the client. Throws LlmRefusal for a response without content, and another error if it has another
   * shape.
   */
  readResponse(body: JsonObject, request: JsonObject): JsonObject;
  /** Reads an error of the provider. */
  readError(status: number, body: string, headers: HeaderList): LlmError;
}
