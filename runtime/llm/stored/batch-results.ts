import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { guardWhole } from "../calls/response-guard.ts";
import type { TextFormat } from "../chat/texts.ts";
import { parseObject } from "../formats/parse-object.ts";
import { GuardRun } from "../guards/guard-run.ts";
import type { GuardStep } from "../guards/prompt-guard.ts";
import { recordGuards } from "../guards/record-guards.ts";
import { chargeResults, outputOf, type ResultUsage } from "./charge-batch.ts";
import { withGivenIds } from "./given-ids.ts";
import { idOwner, type Stored, type StoreService } from "./object-store.ts";
import type { ResultReader } from "./result-lines.ts";

/** Place of the response in a line of results, by the API of the batch. */
export interface ResultShape {
  /** Returns the body of the response; `undefined` if the line has none. */
  body(line: JsonObject): JsonObject | undefined;
  /** Returns the line with another body. */
  with(line: JsonObject, body: JsonObject): JsonObject;
  /** Returns the line of a response that a guard refuses. */
  refused(line: JsonObject, message: string): JsonObject;
}

/** Results of OpenAI's batches. */
export const OPENAI_RESULTS: ResultShape = {
  body: ({ response }) =>
    isJsonObject(response) && isJsonObject(response.body) ? response.body : undefined,
  with: (line, body) => ({
    ...line,
    response: { ...(isJsonObject(line.response) && line.response), body },
  }),
  refused: (line, message) => ({
    ...line,
    response: null,
    error: { code: "content_policy_violation", message },
  }),
};

/** Results of Anthropic's batches. */
export const MESSAGE_RESULTS: ResultShape = {
  body: ({ result }) => {
    if (!isJsonObject(result)) return undefined;
    return isJsonObject(result.message) ? result.message : result;
  },
  with: (line, body) => {
    const { result } = line;
    const hasMessage = isJsonObject(result) && isJsonObject(result.message);
    return { ...line, result: hasMessage ? { ...result, message: body } : body };
  },
  refused: ({ custom_id }, message) => ({
    custom_id,
    result: {
      type: "errored",
      error: { type: "error", error: { type: "invalid_request_error", message } },
    },
  }),
};

/**
 * Returns a reader of results: each response passes the guards, its tokens are charged once, and stored objects get ids of the
 * caller.
 */
export function resultReader(
  exchange: Exchange,
  service: StoreService,
  stored: Stored,
  shape: ResultShape,
): ResultReader {
  const steps = [...new Set((stored.store.guards ?? []).flatMap(({ response }) => response))];
  const names = service.ids?.responses;
  const { provider } = stored.store;
  const receiver = names && { names, owner: idOwner(exchange, service), provider };
  const withIds = (text: string): string => (receiver ? withGivenIds(text, receiver) : text);
  const usages: (ResultUsage | undefined)[] = [];
  return {
    maxLine: service.limit,
    line: (text) => {
      const line = parseObject(text);
      const body = line && shape.body(line);
      usages.push(body && outputOf(body));
      if (steps.length === 0) return line === undefined ? text : withIds(text);
      if (line === undefined) throw new Error("a line of results is not a JSON object");
      return body === undefined
        ? text
        : guardedLine(exchange, { line, body, text, steps, shape, service }).then(withIds);
    },
    close: () => chargeResults(exchange, stored, usages),
  };
}

interface GuardedLine {
  readonly line: JsonObject;
  readonly body: JsonObject;
  readonly text: string;
  readonly steps: readonly GuardStep[];
  readonly shape: ResultShape;
  readonly service: StoreService;
}

async function guardedLine(
  exchange: Exchange,
  { line, body, text, steps, shape, service }: GuardedLine,
): Promise<string> {
  const format = textsOf(body, service);
  const run = new GuardRun("response", exchange);
  const written = JSON.stringify(body);
  const guarded = format && (await guardWhole(written, { run, steps, format }));
  recordGuards(exchange, steps, run);
  if (guarded === written) return text;
  if (typeof guarded === "string")
    return JSON.stringify(shape.with(line, parseObject(guarded) ?? {}));
  const message = guarded?.message ?? "the guards of this route cannot read this response";
  return JSON.stringify(shape.refused(line, message));
}

/** Returns the texts of a response by its kind. Members that its format does not define are texts, too. */
function textsOf({ object }: JsonObject, { endpoints }: StoreService): TextFormat | undefined {
  const own = object === "response" ? endpoints["/v1/responses"]?.texts : undefined;
  return own ?? Object.values(endpoints).find(({ texts }) => texts !== undefined)?.texts;
}
