import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { NativeFormat, ResponseFacts, StreamWatcher } from "../../chat/formats.ts";
import { readCompletionsError, readFailure } from "../completions/errors.ts";
import { eventData } from "../event-bytes.ts";
import { parseObject } from "../parse-object.ts";
import { responsesErrors } from "./errors.ts";
import { readResponsesUsage, responsesUsageReads } from "./usage.ts";

/** OpenAI's Responses API on both sides. */
export const responsesNative: NativeFormat = {
  name: "responses",
  ...responsesErrors,
  reads: {
    ...{ id: true, model: true, usage: responsesUsageReads, status: true },
    incomplete_details: { reason: true },
  },
  readResponse: readFacts,
  watchStream: () => new ResponsesWatcher(),
  readError: readCompletionsError,
  adapt: () => {},
};

function readFacts(response: JsonObject): ResponseFacts {
  const { id, model, status, incomplete_details: details } = response;
  const reason = isJsonObject(details) ? details.reason : undefined;
  const finish = reason ?? status;
  return {
    id: typeof id === "string" ? id : undefined,
    model: typeof model === "string" ? model : undefined,
    usage: readResponsesUsage(response.usage),
    finish: typeof finish === "string" ? finish : undefined,
  };
}

class ResponsesWatcher implements StreamWatcher {
  facts: ResponseFacts = {};
  readonly hasEnded = false;
  /** Start of the last delta, which shows its type: most later ones are of the same type. */
  #start = Buffer.alloc(0);

  see(event: Buffer): ReturnType<StreamWatcher["see"]> {
    if (this.#isDelta(event)) return "content";
    const data = eventData(event);
    if (data === undefined) return "other";
    const type = TYPE_AHEAD.exec(data)?.[1] ?? parseObject(data)?.type;
    switch (type) {
      case "response.created":
        this.#note(data);
        return "other";
      case "response.queued":
      case "response.in_progress":
      case "keepalive":
        return "other";
      case "response.completed":
      case "response.incomplete":
        this.#note(data);
        return "end";
      case "response.failed":
        this.#note(data);
        return readFailure(responseOf(data).error);
      case "error": {
        const { error, ...flat } = parseObject(data) ?? {};
        return readFailure(error ?? flat);
      }
      default:
        return "content";
    }
  }

  #isDelta(event: Buffer): boolean {
    const { length } = this.#start;
    if (
      length > 0 &&
      event.length >= length &&
      event.compare(this.#start, 0, length, 0, length) === 0
    )
      return true;
    const found = PIECE.exec(event.toString("latin1", 0, AHEAD_LENGTH));
    if (found !== null) this.#start = Buffer.from(found[0], "latin1");
    return found !== null;
  }

  #note(data: string): void {
    this.facts = readFacts(responseOf(data));
  }
}

/** Most events are deltas, which their first bytes show. */
const PIECE = /^(?:event: [\w.]+\r?\n)?data: ?\{"type": ?"response\.[\w.]+\.delta"/;
const AHEAD_LENGTH = 160;

/** OpenAI writes the type first, so that most events need no parsing. */
const TYPE_AHEAD = /^\s*\{\s*"type"\s*:\s*"([\w.]+)"/;

function responseOf(data: string): JsonObject {
  const response = parseObject(data)?.response;
  return isJsonObject(response) ? response : {};
}
