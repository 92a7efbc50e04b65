import type { QueryStyle } from "../../../runtime/mcp/transports/openapi-tool.ts";
import { isHeaderName } from "../parts/header-fields.ts";
import {
  followed,
  type InputSchemas,
  itemsOf,
  type JsonObject,
  schemaObject,
} from "./openapi-schema.ts";

/** The parameters of an operation, which count before those of its path (OpenAPI, operation object); or why it has none. */
export function operationParameters(
  item: JsonObject,
  operation: JsonObject,
  document: JsonObject,
): readonly JsonObject[] | string {
  const found = new Map<string, JsonObject>();
  for (const each of [...itemsOf(item.parameters), ...itemsOf(operation.parameters)]) {
    const parameter = followed(each, document);
    if (parameter === undefined) {
      return `its reference "${schemaObject(each).$ref}" leads nowhere in the document`;
    }
    const name = String(parameter.name);
    const isHeader = parameter.in === "header";
    // OpenAPI, parameter object: these headers are said elsewhere; the others are the gateway's own.
    if (isHeader && isOwnHeader(name.toLowerCase())) continue;
    found.set(`${parameter.in} ${isHeader ? name.toLowerCase() : name}`, parameter);
  }
  return [...found.values()];
}

/** Also those that say who asks: an API believes them of the gateway. */
function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || name.startsWith("x-forwarded-");
}

const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...["accept", "accept-encoding", "authorization", "connection", "content-encoding"],
  ...["content-length", "content-type", "cookie", "expect", "forwarded", "host", "http2-settings"],
  ...["keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade", "via", "x-real-ip"],
]);

/** Why an operation with this parameter is no tool; undefined: it may be one. */
export function parameterProblem(
  { name, in: place, required, schema, style, explode }: JsonObject,
  document: JsonObject,
): string | undefined {
  if (place === "header" && !isHeaderName(String(name))) {
    return `its parameter "${name}" is no name of a header`;
  }
  if (required === true && (place === "cookie" || schema === undefined)) {
    return `its parameter "${name}" can't be an argument`;
  }
  const isQuery = place === "query";
  const isKnown = style === undefined || (isQuery ? STYLES.has(String(style)) : style === "simple");
  // `a=1,b=2`: nobody else reads the members of an object so.
  const isPairs = !isQuery && explode === true && isObjectSchema(schema, document);
  return isKnown && !isPairs
    ? undefined
    : `its parameter "${name}" has a style that no argument is written in`;
}

function isObjectSchema(schema: JsonObject[string], document: JsonObject): boolean {
  return followed(schema, document)?.type === "object";
}

/** How lists and objects in the query are written, by the parameter's name; undefined: all in OpenAPI's own way. */
export function queryStylesOf(
  parameters: readonly JsonObject[],
): Readonly<Record<string, QueryStyle>> | undefined {
  const styles = parameters.flatMap(({ name, in: place, style = "form", explode }) => {
    const isExploded = style !== "deepObject" && (explode ?? style === "form") === true;
    const own = place === "query" && !isExploded ? STYLES.get(String(style)) : undefined;
    return own === undefined ? [] : [[String(name), own] as const];
  });
  return styles.length === 0 ? undefined : Object.fromEntries(styles);
}

/** Styles of the query (OpenAPI, parameter object), by what stands between the values. */
const STYLES: ReadonlyMap<string, QueryStyle> = new Map([
  ["form", "commas"],
  ["spaceDelimited", "spaces"],
  ["pipeDelimited", "pipes"],
  ["deepObject", "brackets"],
]);

/** The schema of the parameters in one place; undefined without any. A path has all that its braces name. */
export function placeSchema(
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

/** The keyword, where something is required. */
export function requiredOf(required: readonly string[]): JsonObject {
  return required.length === 0 ? {} : { required };
}
