import { toJson } from "../../cel/functions/json.ts";
import type { Exchange } from "../../http/exchange.ts";
import { hasLongNumber } from "../../json/exact-json.ts";
import { JsonBody } from "../../json/json-body.ts";
import { objectMembers } from "../../json/json-text.ts";
import { noJson, parsedBody } from "./chat-call.ts";
import type { FieldTransforms } from "./transform-fields.ts";

/** Changes the body of a request after its translation to the provider's format. Throws LlmRefusal if it is no JSON. */
export type FinalChange = (exchange: Exchange, body: string | Uint8Array) => string;

/** Computes fields of bodies in the provider's format, which expressions read as `llmRequest`. */
export function finalFields({ fields }: Pick<FieldTransforms, "fields">): FinalChange {
  return (exchange, body) => {
    const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
    const llmRequest = parsedBody(text, hasLongNumber(text));
    if (llmRequest === undefined) throw noJson();
    const edited = new JsonBody(text, objectMembers(text, text.indexOf("{")));
    for (const [field, value] of fields({ request: exchange, llmRequest })) {
      const json = value === undefined ? undefined : toJson(value);
      if (json === undefined) edited.delete(field);
      else edited.set(field, json);
    }
    return edited.toString();
  };
}
