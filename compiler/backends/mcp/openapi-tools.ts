import { parse } from "yaml";
import type { OpenApiTool } from "../../../runtime/mcp/transports/openapi-tool.ts";
import { bodyArgument } from "./openapi-body.ts";
import {
  operationParameters,
  PLACES,
  parameterProblem,
  placeSchema,
  requiredOf,
  stylesOf,
} from "./openapi-parameters.ts";
import {
  followed,
  InputSchemas,
  itemsOf,
  type JsonObject,
  schemaObject,
} from "./openapi-schema.ts";

/** An operation as a tool; its schema is that of the document. */
export type OpenApiToolNode = Omit<OpenApiTool, "inputSchema"> & {
  readonly inputSchema: JsonObject;
};

/** Tools of an OpenAPI document, or the reason why it cannot be used. */
export type OpenApiTools =
  | {
      readonly kind: "tools";
      readonly tools: readonly OpenApiToolNode[];
      /** Path of its server, without a trailing slash. */
      readonly basePath: string;
      /** Operations that cannot become tools, such as `DELETE /a`, with the reason. */
      readonly skipped: readonly { readonly operation: string; readonly why: string }[];
    }
  | { readonly kind: "problem"; readonly problem: string };

/** Methods of operations, as spelled in documents. */
const METHODS: readonly string[] = ["get", "put", "post", "delete", "patch"];

/** Returns the tools of an OpenAPI document (JSON or YAML), in its order. */
export function openApiTools(text: string): OpenApiTools {
  const document = documentOf(text);
  if (document === undefined) return { kind: "problem", problem: "is neither JSON nor YAML" };
  const { openapi: version } = document;
  if (typeof version !== "string" || !/^3\.[01]\./.test(version))
    return { kind: "problem", problem: "is not an OpenAPI document of version 3.0 or 3.1" };
  const found = Object.entries(schemaObject(document.paths)).flatMap(([path, item]) =>
    operationsOf(path, followed(item, document), document),
  );
  const tools: OpenApiToolNode[] = [];
  const skipped: { operation: string; why: string }[] = [];
  const names = new Set<string>();
  let size = 0;
  for (const { operation, make } of found) {
    const made = make();
    if (typeof made === "string") skipped.push({ operation, why: made });
    else if (names.has(made.name))
      skipped.push({ operation, why: `another tool is named "${made.name}"` });
    else {
      names.add(made.name);
      tools.push(made);
      size += JSON.stringify(made).length;
      if (size > MAX_SIZE) return { kind: "problem", problem: "makes more than 16 MiB of tools" };
    }
  }
  if (tools.length === 0)
    return { kind: "problem", problem: "has no operation that can become a tool" };
  return { kind: "tools", tools, skipped, basePath: basePathOf(document) };
}

/**
 * Maximum number of characters of all tools. Each tool includes all schemas that it references, and clients get
 * them in one list.
 */
const MAX_SIZE = 16 * 1024 * 1024;

function documentOf(text: string): JsonObject | undefined {
  try {
    return schemaObject(parse(text));
  } catch {
    return undefined;
  }
}

/** Returns the path of the first server, with the defaults of its variables. */
function basePathOf({ servers }: JsonObject): string {
  const { url, variables } = schemaObject(itemsOf(servers)[0]);
  if (typeof url !== "string") return "";
  const filled = url.replace(/\{([^}]+)\}/g, (_whole, name: string) =>
    String(schemaObject(schemaObject(variables)[name]).default ?? ""),
  );
  const base = "http://server";
  return URL.canParse(filled, base) ? new URL(filled, base).pathname.replace(/\/+$/, "") : "";
}

/** An operation, and a function that returns its tool or the reason why there is no tool. */
interface Operation {
  readonly operation: string;
  readonly make: () => OpenApiToolNode | string;
}

function operationsOf(
  path: string,
  item: JsonObject | undefined,
  document: JsonObject,
): readonly Operation[] {
  if (item === undefined) return [{ operation: path, make: () => "its reference is broken" }];
  return METHODS.filter((method) => item[method] !== undefined).map((method) => {
    const operation = schemaObject(item[method]);
    const request = { method: method.toUpperCase(), path, item, operation };
    return { operation: `${request.method} ${path}`, make: () => toolOf(request, document) };
  });
}

interface RequestShape {
  readonly method: string;
  readonly path: string;
  /** Fields common to the operations of the path. */
  readonly item: JsonObject;
  readonly operation: JsonObject;
}

function toolOf(request: RequestShape, document: JsonObject): OpenApiToolNode | string {
  const { method, path, item, operation } = request;
  if (!isPath(path)) return "its path is invalid";
  const parameters = operationParameters(item, operation, document);
  if (typeof parameters === "string") return parameters;
  const [problem] = parameters.flatMap((each) => parameterProblem(each, document) ?? []);
  if (problem !== undefined) return problem;
  const body = followed(operation.requestBody, document);
  if (body === undefined) return "the reference of its body is broken";
  const schemas = new InputSchemas(document);
  const argument = bodyArgument(body, schemas, document);
  if (typeof argument === "string") return argument;
  if (argument === undefined && body.required === true) return "its body has no media type";
  const places = PLACES.flatMap((place) => {
    const schema = placeSchema(place, path, parameters, schemas);
    return schema === undefined ? [] : [{ place, schema }];
  });
  const properties = {
    ...Object.fromEntries(places.map(({ place, schema }) => [place, schema])),
    ...(argument && { body: argument.schema }),
  };
  const required: string[] = places
    .filter(({ schema }) => itemsOf(schema.required).length > 0)
    .map(({ place }) => place);
  if (body.required === true) required.push("body");
  const { definitions, lost, isTooDeep } = schemas;
  if (isTooDeep) return "its schemas are nested too deeply";
  if (lost !== undefined) return `its reference "${lost}" is not in the document`;
  const styles = stylesOf(parameters);
  return {
    name: nameOf(request),
    description: descriptionOf(request),
    inputSchema: {
      type: "object",
      properties,
      ...requiredOf(required),
      additionalProperties: false,
      ...(definitions && { $defs: definitions }),
    },
    method,
    path,
    ...(styles && { styles }),
    ...(argument?.form && { body: argument.form }),
  };
}

/**
 * Whether a path stays below the server's path: characters of paths (RFC 3986 3.3) and variables, without dot
 * segments, encoded or not, and without characters that some servers read as separators.
 */
function isPath(path: string): boolean {
  return (
    /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2}|\{[^{}/]+\})*)+$/i.test(path) &&
    !/%(?:2f|5c|00)|\/\/|\/(?:\.|%2e){1,2}(?:[/;]|$)/i.test(path)
  );
}

/** Returns a name that is valid for an MCP tool. */
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
