import type {
  OpenApiTool,
  ParameterPlace,
  ParameterStyle,
} from "../../../runtime/mcp/transports/openapi-tool.ts";
import { isHeaderName } from "../parts/header-fields.ts";
import {
  followed,
  type InputSchemas,
  itemsOf,
  type JsonObject,
  schemaObject,
} from "./openapi-schema.ts";

/**
 * Returns the parameters of an operation, which override those of its path (OpenAPI, operation object); or the
 * reason why it cannot become a tool.
 */
export function operationParameters(
  item: JsonObject,
  operation: JsonObject,
  document: JsonObject,
): readonly JsonObject[] | string {
  const found = new Map<string, JsonObject>();
  for (const each of [...itemsOf(item.parameters), ...itemsOf(operation.parameters)]) {
    const parameter = followed(each, document);
    if (parameter === undefined) {
      return `its reference "${schemaObject(each).$ref}" is not in the document`;
    }
    const name = String(parameter.name);
    const isHeader = parameter.in === "header";
    // OpenAPI, parameter object: some of these headers are described elsewhere; others are the gateway's own.
    if (isHeader && isOwnHeader(name.toLowerCase())) continue;
    found.set(`${parameter.in} ${isHeader ? name.toLowerCase() : name}`, ofContent(parameter));
  }
  return [...found.values()];
}

/** Whether only the gateway may set a header, such as those that identify the client: an API trusts them. */
function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || name.startsWith("x-forwarded-");
}

const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...["accept", "accept-encoding", "authorization", "connection", "content-encoding"],
  ...["content-length", "content-type", "cookie", "expect", "forwarded", "host", "http2-settings"],
  ...["keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade", "via", "x-real-ip"],
]);

/** Style of a parameter whose value is JSON. Documents have no name for it. */
const JSON_STYLE = " json";

/** Returns a parameter with a schema instead of its `content`, which has one media type. */
function ofContent({ content, ...parameter }: JsonObject): JsonObject {
  const [[type, media] = []] = Object.entries(schemaObject(content));
  if (type === undefined || parameter.schema !== undefined) return parameter;
  const { schema = {} } = schemaObject(media);
  return JSON_TYPE.test(type)
    ? { ...parameter, schema, style: JSON_STYLE }
    : { ...parameter, schema: { type: "string", description: type } };
}

/** Matches media types of JSON. */
export const JSON_TYPE: RegExp = /^(?:application\/(?:[\w.-]+\+)?json\b|(?:application|\*)\/\*$)/i;

/** Returns why an operation with this parameter cannot become a tool; `undefined` if it can. */
export function parameterProblem(
  { name, in: place, required, schema, style, explode }: JsonObject,
  document: JsonObject,
): string | undefined {
  if ((place === "header" || place === "cookie") && !isHeaderName(String(name))) {
    return `its parameter "${name}" is not a valid ${place} name`;
  }
  if (required === true && schema === undefined) {
    return `its parameter "${name}" cannot be an argument`;
  }
  if (style === JSON_STYLE) return undefined;
  const isQuery = place === "query";
  const own = place === "cookie" ? "form" : "simple";
  const isKnown = style === undefined || (isQuery ? STYLES.has(String(style)) : style === own);
  // `a=1,b=2` is a form of objects that only the query has.
  const isExploded = place === "cookie" ? explode !== false : explode === true;
  const isPairs = !isQuery && isExploded && isObjectSchema(schema, document);
  return isKnown && !isPairs ? undefined : `its parameter "${name}" has an unsupported style`;
}

function isObjectSchema(schema: JsonObject[string], document: JsonObject): boolean {
  return followed(schema, document)?.type === "object";
}

/** The places of arguments, in the order of a tool's schema. */
export const PLACES: readonly ParameterPlace[] = ["path", "query", "header", "cookie"];

/** Returns the styles of parameters by their places; `undefined` if all have OpenAPI's default. */
export function stylesOf(parameters: readonly JsonObject[]): OpenApiTool["styles"] {
  const places = PLACES.flatMap((place) => {
    const styles = parameters.flatMap(({ name, in: own, style, explode }) => {
      const found = own === place ? styleAt(place, style, explode) : undefined;
      return found === undefined ? [] : [[String(name), found] as const];
    });
    return styles.length === 0 ? [] : [[place, Object.fromEntries(styles)] as const];
  });
  return places.length === 0 ? undefined : Object.fromEntries(places);
}

function styleAt(
  place: ParameterPlace,
  style: JsonObject[string],
  explode: JsonObject[string],
): ParameterStyle | undefined {
  if (style === JSON_STYLE) return "json";
  return place === "query" ? parameterStyle(style, explode) : undefined;
}

/** Returns the style of a value in a query or a form; `undefined` for OpenAPI's default. */
export function parameterStyle(
  style: JsonObject[string] = "form",
  explode?: JsonObject[string],
): ParameterStyle | undefined {
  const isExploded = style !== "deepObject" && (explode ?? style === "form") === true;
  return isExploded ? undefined : STYLES.get(String(style));
}

/** Styles of the query (OpenAPI, parameter object) and the separators of their values. */
const STYLES: ReadonlyMap<string, ParameterStyle> = new Map([
  ["form", "commas"],
  ["spaceDelimited", "spaces"],
  ["pipeDelimited", "pipes"],
  ["deepObject", "brackets"],
]);

/**
 * Returns the schema of the parameters in one place; `undefined` if there are no parameters. For a path, it has
 * all names in braces.
 */
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

/** Returns the keyword `required` unless the list is empty. */
export function requiredOf(required: readonly string[]): JsonObject {
  return required.length === 0 ? {} : { required };
}
