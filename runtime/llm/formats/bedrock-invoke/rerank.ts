import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { BodyFormat } from "../../chat/body-format.ts";
import { checkFields, type FieldTable } from "../../chat/request-fields.ts";
import { type RequestObject, wrongField } from "../../chat/request-object.ts";
import { readConverseError } from "../converse/errors.ts";

/** Handling of each field of a request that ranks documents. */
const FIELDS: FieldTable = {
  model: "read",
  query: "read",
  documents: "read",
  top_n: "read",
  return_documents: "read",
  max_tokens_per_doc: { refusedUnless: [4096] },
  priority: "dropped",
  user: "dropped",
};

/** Number of documents of a search, as Bedrock bills them. */
const SEARCH = 100;

/** Rankings by Bedrock's InvokeModel: Cohere Rerank and Amazon Rerank. */
export const bedrockInvokeRerank: BodyFormat = {
  writeRequest: (fields) => {
    checkFields(fields, FIELDS);
    const isCohere = /(?:^|[./])cohere\./.test(fields.text("model"));
    return JSON.stringify({
      query: fields.text("query"),
      documents: documentsOf(fields),
      top_n: fields.number("top_n"),
      ...(isCohere && { api_version: 2 }),
    });
  },
  readResponse: ({ results }, request) => {
    if (!Array.isArray(results) || !results.every(isJsonObject))
      throw new Error("no results in the response");
    const { model, documents, return_documents: isShown } = request;
    const given: readonly unknown[] = Array.isArray(documents) ? documents : [];
    const shown = ({ index, relevance_score }: JsonObject): JsonObject => {
      const document = given[Number(index)];
      const text = isJsonObject(document) ? document.text : document;
      return { index, relevance_score, ...(isShown === true && { document: { text } }) };
    };
    return {
      model,
      results: results.map(shown),
      meta: { billed_units: { search_units: Math.max(1, Math.ceil(given.length / SEARCH)) } },
    };
  },
  readError: readConverseError,
};

function documentsOf(fields: RequestObject): readonly string[] {
  const documents = fields.list("documents") ?? [];
  if (documents.length === 0) throw wrongField("documents", "a list of documents");
  return documents.map((document, index) => {
    const text = isJsonObject(document) ? document.text : document;
    if (typeof text === "string") return text;
    throw wrongField(`documents[${index}]`, "a string, or an object with a text");
  });
}
