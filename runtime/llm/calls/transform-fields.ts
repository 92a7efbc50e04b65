import { toJson } from "../../cel/functions/json.ts";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import { type ChatCall, editedCall, editedObject } from "./chat-call.ts";

/** What expressions over a request to a model read. */
export interface TransformedRequest {
  readonly request: Exchange;
  /** Its body, with what stands in the place of the client's own. */
  readonly llmRequest: JsonObject;
}

/** A field of a request and the value of its expression; undefined: it failed, and the field goes. */
export type TransformedField = readonly [field: string, value: unknown];

/** What the configuration makes of the fields of requests before their guards see them. */
export interface FieldTransforms {
  /** Values in the place of the request's: the expressions see them. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly fields: (request: TransformedRequest) => readonly TransformedField[];
}

/** A client's call as the configuration has it. */
export type CallTransform = (exchange: Exchange, call: ChatCall) => ChatCall;

/** The transforms as one; all expressions see the same request. */
export function transformFields({ overrides = {}, fields }: FieldTransforms): CallTransform {
  const fixed = Object.entries(overrides).map(
    ([field, value]) => [field, JSON.stringify(value)] as const,
  );
  return (exchange, call) => {
    const body = new JsonBody(call.text, call.members);
    for (const [field, value] of fixed) body.set(field, value);
    const llmRequest = editedObject(call, body);
    for (const [field, value] of fields({ request: exchange, llmRequest })) {
      const json = value === undefined ? undefined : toJson(value);
      if (json === undefined) body.delete(field);
      else body.set(field, json);
    }
    const edited = editedCall(call, body);
    const { model } = edited.body;
    return edited.with({ model: typeof model === "string" ? model : undefined });
  };
}
