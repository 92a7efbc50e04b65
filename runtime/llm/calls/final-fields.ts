import { toJson } from "../../cel/functions/json.ts";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { hasLongNumber } from "../../json/exact-json.ts";
import { JsonBody } from "../../json/json-body.ts";
import { objectMembers } from "../../json/json-text.ts";
import { noJson, parsedBody } from "./chat-call.ts";
import type { FieldTransforms } from "./transform-fields.ts";

/** Changes the body of a request after its translation to the provider's format. Throws LlmRefusal if it is no JSON. */
export type FinalChange = (exchange: Exchange, body: string | Uint8Array) => string;

/** Fields of bodies in the provider's format. */
export interface FinalFields extends Partial<Pick<FieldTransforms, "fields">> {
  /** Values of fields, which replace others; absent if there are none. */
  readonly fixed?: Readonly<Record<string, unknown>>;
}

/** Sets and computes fields of bodies in the provider's format, which expressions read as `llmRequest`. */
export function finalFields({ fixed = {}, fields }: FinalFields): FinalChange {
  const set = Object.entries(fixed).map(
    ([field, value]) => [field, JSON.stringify(value)] as const,
  );
  return (exchange, body) => {
    const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
    const computed = fields?.({ request: exchange, llmRequest: objectOf(text) }) ?? [];
    const edited = new JsonBody(text, objectMembers(text, text.indexOf("{")));
    for (const [field, json] of set) edited.set(field, json);
    for (const [field, value] of computed) {
      const json = value === undefined ? undefined : toJson(value);
      if (json === undefined) edited.delete(field);
      else edited.set(field, json);
    }
    return edited.toString();
  };
}

function objectOf(text: string): JsonObject {
  const body = parsedBody(text, hasLongNumber(text));
  if (body === undefined) throw noJson();
  return body;
}
