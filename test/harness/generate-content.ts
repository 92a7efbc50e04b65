import type { ServerResponse } from "node:http";
import type {
  Content,
  GenerateContentResponse,
  GenerationConfig,
  Tool,
  ToolConfig,
} from "@google/genai";
import { type Received, type Scripted, startScripted } from "./scripted.ts";

/** Body of a request to generateContent. */
export interface GenerateContentBody {
  readonly systemInstruction?: Content;
  readonly contents: Content[];
  readonly tools?: Tool[];
  readonly toolConfig?: ToolConfig;
  readonly generationConfig?: GenerationConfig;
}

/** A response of generateContent, or one event of its stream. */
export type GenerateContentPiece = Partial<
  Pick<
    GenerateContentResponse,
    "candidates" | "usageMetadata" | "responseId" | "modelVersion" | "promptFeedback"
  >
>;

/** A server of generateContent that refuses what the real one does; whole responses are the first piece. */
export function startGenerateContent(
  ...pieces: readonly GenerateContentPiece[]
): Promise<Scripted> {
  return startScripted((response, _count, request) => {
    const problem = problemOf(request);
    if (problem !== undefined) refuse(response, problem);
    else if (request.url.includes(":streamGenerateContent?alt=sse")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of pieces) response.write(`data: ${JSON.stringify(piece)}\r\n\r\n`);
      response.end();
    } else {
      response.writeHead(200, { "content-type": "application/json; charset=UTF-8" });
      response.end(JSON.stringify(pieces[0]));
    }
  });
}

/** The body of a request. */
export function bodyOf(request: Received | undefined): GenerateContentBody {
  return JSON.parse(request?.body.toString() ?? "{}");
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }));
}

/** Reports the mistakes that the API refuses and a gateway could make. */
function problemOf(request: Received): string | undefined {
  if (
    !/^\/[\w./-]*models\/[\w.-]+:(?:generateContent|streamGenerateContent\?alt=sse)$/.test(
      request.url,
    )
  )
    return `no such path: ${request.url}`;
  const body = bodyOf(request);
  const unknown = Object.keys(body).filter((key) => !fields.has(key));
  if (unknown.length > 0) return `Unknown name "${unknown}": Cannot find field.`;
  if (body.contents.length === 0) return "contents are required";
  for (const [index, content] of body.contents.entries()) {
    const problem = contentProblem(content, body.contents[index - 1], index);
    if (problem !== undefined) return `contents[${index}]: ${problem}`;
  }
  const declared = (body.tools ?? []).flatMap(
    ({ functionDeclarations = [] }) => functionDeclarations,
  );
  const schemas = [
    ...declared.map(({ parameters }) => parameters),
    body.generationConfig?.responseSchema,
  ];
  return schemas.map((schema) => schema && schemaProblem(schema)).find(isText);
}

const fields = new Set([
  "systemInstruction",
  "contents",
  "tools",
  "toolConfig",
  "generationConfig",
  "safetySettings",
  "cachedContent",
  "labels",
]);

function contentProblem(
  { role, parts = [] }: Content,
  before: Content | undefined,
  index: number,
): string | undefined {
  if (role !== (index % 2 === 0 ? "user" : "model")) return "roles have to alternate";
  if (parts.length === 0) return "must include at least one parts field";
  if (parts.some(({ text }) => text === "")) return "text is empty";
  if (
    !parts.some(
      ({ text, functionCall, functionResponse }) => text ?? functionCall ?? functionResponse,
    )
  )
    return "must have a text";
  const calls = (before?.parts ?? []).flatMap(({ functionCall: call }) => call?.name ?? []);
  const results = parts.flatMap(({ functionResponse: result }) => result?.name ?? []);
  if (calls.join() !== results.join()) return `calls of ${calls} have results of ${results}`;
  return undefined;
}

function schemaProblem(schema: object): string | undefined {
  for (const [key, value] of Object.entries(schema)) {
    if (!schemaFields.has(key)) return `Unknown name "${key}" in a schema`;
    if (key === "type" && !/^[A-Z]+$/.test(String(value))) return `no such type: ${value}`;
    if (key === "type" && value === "ARRAY" && !("items" in schema)) return "missing field items";
    const inner =
      key === "properties"
        ? Object.values(value)
        : key === "anyOf"
          ? value
          : key === "items"
            ? [value]
            : [];
    const problem = inner.map(schemaProblem).find(isText);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const schemaFields = new Set([
  ...["type", "format", "title", "description", "nullable", "default", "enum", "example"],
  ...["items", "minItems", "maxItems", "properties", "required", "minProperties", "maxProperties"],
  ...["minLength", "maxLength", "pattern", "minimum", "maximum", "anyOf", "propertyOrdering"],
]);

function isText(value: string | undefined): value is string {
  return value !== undefined;
}
