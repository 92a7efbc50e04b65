import { toJson } from "../../cel/functions/json.ts";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import { type ChatCall, editedCall, editedObject } from "./chat-call.ts";

/** Variables of expressions over a request to a model. */
export interface TransformedRequest {
  readonly request: Exchange;
  /** Its body, with the configured overrides applied. */
  readonly llmRequest: JsonObject;
}

/** A field of a request and the value of its expression; `undefined` if the expression failed, which removes the field. */
export type TransformedField = readonly [field: string, value: unknown];

/** Configured changes of request fields, applied before guards. */
export interface FieldTransforms {
  /** Values that replace the request's; expressions see them. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly fields: (request: TransformedRequest) => readonly TransformedField[];
}

/** Applies the configured changes to a client's call. */
export type CallTransform = (exchange: Exchange, call: ChatCall) => ChatCall;

/** Combines transforms; all expressions see the same request. */
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
