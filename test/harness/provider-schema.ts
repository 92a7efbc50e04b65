import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { closed } from "./provider-schemas/closed.ts";
import type { Definitions } from "./provider-schemas/json-schema.ts";

/** Where the schemas of a provider's API stand, and which of them. */
export type ProviderSchema = readonly [document: string, name: string];

/** The schema that a provider has for the bodies of requests to a path; undefined: none that is known. */
export function requestSchema(url: string): ProviderSchema | undefined {
  const [pathname = ""] = url.split("?");
  return requestSchemas.find(([pattern]) => pattern.test(pathname))?.[1];
}

const requestSchemas: readonly (readonly [RegExp, ProviderSchema])[] = [
  [/\/chat\/completions$/, ["openai", "CreateChatCompletionRequest"]],
  [/\/responses$/, ["openai", "CreateResponse"]],
  [/\/embeddings$/, ["openai", "CreateEmbeddingRequest"]],
  [/\/messages$/, ["anthropic", "CreateMessageParams"]],
  [/\/messages\/count_tokens$/, ["anthropic", "CountMessageTokensParams"]],
  [/:(?:rawPredict|streamRawPredict)$/, ["anthropic", "CreateMessageParams"]],
  [
    /\/publishers\/google\/models\/[^/]+:(?:generateContent|streamGenerateContent)$/,
    ["vertexai", "GoogleCloudAiplatformV1GenerateContentRequest"],
  ],
  [/:(?:generateContent|streamGenerateContent)$/, ["gemini", "GenerateContentRequest"]],
  [/\/model\/[^/]+\/converse(?:-stream)?$/, ["bedrock", "ConverseRequest"]],
];

/** What is wrong with a request by its provider's own schema, each with its path; nothing: it is valid. */
export function requestProblems(schema: ProviderSchema, body: unknown): readonly string[] {
  return problems(validator(schema, closed), body);
}

/** What is wrong with a response, or an event of a stream, by the schema of the format it is in. */
export function responseProblems(schema: ProviderSchema, body: unknown): readonly string[] {
  return problems(
    validator(schema, (definitions) => definitions),
    body,
  );
}

const validators = new Map<string, ValidateFunction>();

function validator(
  [document, name]: ProviderSchema,
  strictly: (definitions: Definitions) => Definitions,
): ValidateFunction {
  const key = `${document} ${name} ${strictly.name}`;
  const known = validators.get(key);
  if (known !== undefined) return known;
  const file = path.join(import.meta.dirname, "provider-schemas", `${document}.json`);
  const { $defs } = JSON.parse(readFileSync(file, "utf8"));
  const ajv = new Ajv2020({
    ...{ strict: false, allErrors: true, unicodeRegExp: false },
    // Compiled in a third of the time.
    ...{ validateSchema: false, inlineRefs: false, code: { optimize: false } },
  });
  const made = ajv.compile({ $defs: strictly($defs), $ref: `#/$defs/${name}` });
  validators.set(key, made);
  return made;
}

function problems(validate: ValidateFunction, body: unknown): readonly string[] {
  if (validate(body)) return [];
  const errors = validate.errors ?? [];
  const others = new Set(errors.filter(isOtherVariant).map(variantOf));
  const meant = errors.filter((error) => !others.has(variantOf(error)));
  const found = meant.length === 0 ? errors : meant;
  // Around what is wrong everything is wrong: what stands deepest inside says it best.
  return [...new Set(found.toSorted((a, b) => depthOf(b) - depthOf(a)).map(told))].slice(0, 8);
}

/** The definition that a part was held against. */
function variantOf({ schemaPath }: ErrorObject): string {
  return /^#\/\$defs\/[^/]+/.exec(schemaPath)?.[0] ?? "";
}

/** Whether a part is of another variant by its own word. */
function isOtherVariant({ instancePath, keyword }: ErrorObject): boolean {
  return /\/(?:type|role)$/.test(instancePath) && (keyword === "const" || keyword === "enum");
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split("/").length;
}

function told({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath || "the body"} ${message} ${JSON.stringify(params)}`;
}
