import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { closed } from "./provider-schemas/closed.ts";
import { type Definitions, isObject, type JsonValue } from "./provider-schemas/json-schema.ts";
import { narrowed } from "./provider-schemas/narrowed.ts";

/** Location of the schemas of a provider's API, and which of them apply. */
export type ProviderSchema = readonly [document: string, name: string];

/** Returns a provider's schema for the bodies of requests to a path; `undefined` if none is known. */
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
  [/\/count-tokens:rawPredict$/, ["anthropic", "CountMessageTokensParams"]],
  [/:(?:rawPredict|streamRawPredict)$/, ["anthropic", "CreateMessageParams"]],
  [
    /\/publishers\/google\/models\/[^/]+:(?:generateContent|streamGenerateContent)$/,
    ["vertexai", "GoogleCloudAiplatformV1GenerateContentRequest"],
  ],
  [/:(?:generateContent|streamGenerateContent)$/, ["gemini", "GenerateContentRequest"]],
  [/\/model\/[^/]+\/converse(?:-stream)?$/, ["bedrock", "ConverseRequest"]],
];

/** Returns the violations of a provider's own schema by a request, each with its path; empty if it is valid. */
export function requestProblems(schema: ProviderSchema, body: unknown): readonly string[] {
  return problems(schema, closed, body);
}

/** Returns the violations of the format's schema by a response, or by an event of a stream. */
export function responseProblems(schema: ProviderSchema, body: unknown): readonly string[] {
  return problems(schema, open, body);
}

type Strictness = (definitions: Definitions) => Definitions;

const open: Strictness = (definitions) => definitions;

/** A schema with the definitions that it needs, and what holds values against it. */
interface Referee {
  readonly definitions: Definitions;
  readonly validate: ValidateFunction;
}

const referees = new Map<string, Referee>();

function problems(
  schema: ProviderSchema,
  strictness: Strictness,
  body: unknown,
): readonly string[] {
  const { definitions, validate } = refereeOf(schema, strictness);
  if (validate(body)) return [];
  const [, name] = schema;
  const meant = compiled({
    ...objectOf(narrowed(definitions, { $ref: `#/$defs/${name}` }, body)),
    $defs: definitions,
  });
  meant(body);
  const errors = meant.errors ?? validate.errors ?? [];
  // Everything around a violation is invalid too: the deepest message is the most precise one.
  const told = errors
    .filter(({ keyword }) => keyword !== "anyOf")
    .toSorted((a, b) => depthOf(b) - depthOf(a))
    .map(toldError);
  return [...new Set(told)].slice(0, 8);
}

function refereeOf([document, name]: ProviderSchema, strictness: Strictness): Referee {
  const key = `${document} ${name} ${strictness.name}`;
  const known = referees.get(key);
  if (known !== undefined) return known;
  const file = path.join(import.meta.dirname, "provider-schemas", `${document}.json`);
  const definitions = strictness(laxer(JSON.parse(readFileSync(file, "utf8")).$defs));
  const validate = compiled({ $defs: definitions, $ref: `#/$defs/${name}` });
  const made = { definitions, validate };
  referees.set(key, made);
  return made;
}

/** Fields that the documents require and no client sends, by definition. */
const unrequired: Readonly<Record<string, string>> = {
  // OpenAI takes tools of the Responses API without it, and most clients leave it out.
  FunctionTool: "strict",
  // Anthropic omits the field if the list is empty, and clients refuse a null.
  ResponseTextBlock: "citations",
};

function laxer(definitions: Definitions): Definitions {
  const entries = Object.entries(definitions).map(([name, definition]): [string, JsonValue] => {
    const { required } = objectOf(definition);
    if (unrequired[name] === undefined || !Array.isArray(required)) return [name, definition];
    const kept = required.filter((field) => field !== unrequired[name]);
    return [name, { ...objectOf(definition), required: kept }];
  });
  return Object.fromEntries(entries);
}

function compiled(schema: Definitions): ValidateFunction {
  const ajv = new Ajv2020({
    ...{ strict: false, allErrors: true, unicodeRegExp: false },
    // Compiled in a third of the time.
    ...{ validateSchema: false, inlineRefs: false, code: { optimize: false } },
  });
  return ajv.compile(schema);
}

function objectOf(schema: JsonValue): Definitions {
  return isObject(schema) ? schema : {};
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split("/").length;
}

function toldError({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath || "the body"} ${message} ${JSON.stringify(params)}`;
}
