import { parse } from "yaml";
import type { OpenApiTool } from "../../../runtime/mcp/transports/openapi-tool.ts";
import {
  followed,
  InputSchemas,
  itemsOf,
  type JsonObject,
  schemaObject,
} from "./openapi-schema.ts";

/** An operation as a tool; its schema is the document's own text. */
export type OpenApiToolNode = Omit<OpenApiTool, "inputSchema"> & {
  readonly inputSchema: JsonObject;
};

/** What an OpenAPI document offers, or why it can't be used. */
export type OpenApiTools =
  | {
      readonly kind: "tools";
      readonly tools: readonly OpenApiToolNode[];
      /** The path of its server, without a slash at its end. */
      readonly basePath: string;
      /** Operations that no tool can stand for: `DELETE /a`, and why. */
      readonly leftOut: readonly { readonly operation: string; readonly why: string }[];
    }
  | { readonly kind: "problem"; readonly problem: string };

/** Methods of operations, as documents call them. */
const METHODS: readonly string[] = ["get", "put", "post", "delete", "patch"];

/** The tools of an OpenAPI document, JSON or YAML, in its order. */
export function openApiTools(text: string): OpenApiTools {
  const document = documentOf(text);
  if (document === undefined) return { kind: "problem", problem: "is neither JSON nor YAML" };
  const { openapi: version } = document;
  if (typeof version !== "string" || !/^3\.[01]\./.test(version))
    return { kind: "problem", problem: "is no OpenAPI document of version 3.0 or 3.1" };
  const found = Object.entries(schemaObject(document.paths)).flatMap(([path, item]) =>
    operationsOf(path, followed(item, document), document),
  );
  const tools: OpenApiToolNode[] = [];
  const leftOut: { operation: string; why: string }[] = [];
  for (const { operation, made } of found) {
    if (typeof made === "string") leftOut.push({ operation, why: made });
    else if (tools.some(({ name }) => name === made.name))
      leftOut.push({ operation, why: `another tool is called "${made.name}"` });
    else tools.push(made);
  }
  if (tools.length === 0) return { kind: "problem", problem: "has no operation for a tool" };
  return { kind: "tools", tools, leftOut, basePath: basePathOf(document) };
}

function documentOf(text: string): JsonObject | undefined {
  try {
    return schemaObject(parse(text));
  } catch {
    return undefined;
  }
}

/** The path of the first server, with the defaults of its variables. */
function basePathOf({ servers }: JsonObject): string {
  const { url, variables } = schemaObject(itemsOf(servers)[0]);
  if (typeof url !== "string") return "";
  const filled = url.replace(/\{([^}]+)\}/g, (_whole, name: string) =>
    String(schemaObject(schemaObject(variables)[name]).default ?? ""),
  );
  const base = "http://server";
  return URL.canParse(filled, base) ? new URL(filled, base).pathname.replace(/\/+$/, "") : "";
}

/** An operation and its tool, or why there is none. */
interface Operation {
  readonly operation: string;
  readonly made: OpenApiToolNode | string;
}

function operationsOf(path: string, item: JsonObject, document: JsonObject): readonly Operation[] {
  return METHODS.filter((method) => item[method] !== undefined).map((method) => {
    const operation = schemaObject(item[method]);
    const parameters = parametersOf(item, operation, document);
    const request = { method: method.toUpperCase(), path, operation, parameters };
    return { operation: `${request.method} ${path}`, made: toolOf(request, document) };
  });
}

/** Those of an operation count before those of its path (OpenAPI, operation object). */
function parametersOf(
  item: JsonObject,
  operation: JsonObject,
  document: JsonObject,
): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const each of [...itemsOf(item.parameters), ...itemsOf(operation.parameters)]) {
    const parameter = followed(each, document);
    const name = String(parameter.name);
    const isHeader = parameter.in === "header";
    // OpenAPI, parameter object: these headers are said elsewhere; the others are the gateway's own.
    if (isHeader && OWN_HEADERS.has(name.toLowerCase())) continue;
    found.set(`${parameter.in} ${isHeader ? name.toLowerCase() : name}`, parameter);
  }
  return [...found.values()];
}

const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...["accept", "authorization", "connection", "content-length", "content-type", "cookie", "host"],
  ...["keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"],
]);

interface RequestShape {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
  readonly parameters: readonly JsonObject[];
}

function toolOf(request: RequestShape, document: JsonObject): OpenApiToolNode | string {
  const { method, path, operation, parameters } = request;
  const unusable = parameters.find(
    ({ in: place, required, schema }) =>
      required === true && (place === "cookie" || schema === undefined),
  );
  if (unusable !== undefined) return `its parameter "${unusable.name}" can't be an argument`;
  const body = followed(operation.requestBody, document);
  const json = Object.entries(schemaObject(body.content)).find(([type]) =>
    JSON_TYPE.test(type),
  )?.[1];
  if (body.required === true && json === undefined) return "its body is not JSON";
  const schemas = new InputSchemas(document);
  const places = ["path", "query", "header"].flatMap((place) => {
    const schema = placeSchema(place, path, parameters, schemas);
    return schema === undefined ? [] : [{ place, schema }];
  });
  const properties = {
    ...Object.fromEntries(places.map(({ place, schema }) => [place, schema])),
    ...(json !== undefined && { body: schemas.schemaOf(schemaObject(json).schema) }),
  };
  const required = places
    .filter(({ schema }) => itemsOf(schema.required).length > 0)
    .map(({ place }) => place);
  const { definitions } = schemas;
  return {
    name: nameOf(request),
    description: descriptionOf(request),
    inputSchema: {
      type: "object",
      properties,
      ...requiredOf(body.required === true ? [...required, "body"] : required),
      additionalProperties: false,
      ...(definitions && { $defs: definitions }),
    },
    method,
    path,
    joined: parameters
      .filter(({ in: place, explode }) => place === "query" && explode === false)
      .map(({ name }) => String(name)),
  };
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

/** What MCP lets a tool be called. */
function nameOf({ method, path, operation }: RequestShape): string {
  const { operationId } = operation;
  const name = typeof operationId === "string" ? operationId : `${method.toLowerCase()}${path}`;
  return name
    .replace(/[^A-Za-z0-9_.-]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 64);
}

function descriptionOf({ method, path, operation }: RequestShape): string {
  const { description, summary } = operation;
  const texts = [description, summary].filter((text) => typeof text === "string" && text !== "");
  return String(texts[0] ?? `${method} ${path}`);
}

/** The schema of the parameters in one place; undefined without any. A path has all that its braces name. */
function placeSchema(
  place: string,
  path: string,
  parameters: readonly JsonObject[],
  schemas: InputSchemas,
): JsonObject | undefined {
  const own = parameters.filter((each) => each.in === place && each.schema !== undefined);
  const named =
    place === "path" ? Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name]) => name) : [];
  const given = own.filter(({ name }) => place !== "path" || named.includes(String(name)));
  const properties: JsonObject = Object.fromEntries([
    ...named.map((name) => [name, { type: "string" }]),
    ...given.map(({ name, schema, description }) => {
      const of = schemas.schemaOf(schema);
      const isDescribed = typeof description === "string" && of.$ref === undefined;
      return [name, isDescribed ? { ...of, description } : of];
    }),
  ]);
  if (Object.keys(properties).length === 0) return undefined;
  const required = given.filter((each) => each.required === true).map(({ name }) => String(name));
  return {
    type: "object",
    properties,
    ...requiredOf(place === "path" ? Object.keys(properties) : required),
    additionalProperties: false,
  };
}

function requiredOf(required: readonly string[]): JsonObject {
  return required.length === 0 ? {} : { required };
}
