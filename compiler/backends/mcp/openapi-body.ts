import type {
  OpenApiBody,
  OpenApiPart,
  ParameterStyles,
} from "../../../runtime/mcp/transports/openapi-tool.ts";
import { JSON_TYPE, parameterStyle } from "./openapi-parameters.ts";
import {
  followed,
  type InputSchemas,
  itemsOf,
  type JsonObject,
  schemaObject,
} from "./openapi-schema.ts";

/** The body of an operation as an argument. */
export interface BodyArgument {
  readonly schema: JsonObject;
  /** `undefined` for JSON. */
  readonly form: OpenApiBody | undefined;
}

/** Media types that are written from an object, and others, the best first. */
const KINDS: readonly (readonly [kind: "json" | OpenApiBody["kind"], type: RegExp])[] = [
  ["json", JSON_TYPE],
  ["form", /^application\/x-www-form-urlencoded\b/i],
  ["multipart", /^multipart\/form-data\b/i],
  ["text", /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:xml|yaml))(?:;.*)?$/i],
  ["bytes", /^[\w.+-]+\/[\w.+-]+(?:;.*)?$/],
];

/**
 * Returns the body of an operation; `undefined` if it has none, or the reason why it cannot be an argument. Of several
 * media types, the one that is easiest for a model is used.
 */
export function bodyArgument(
  { content: given }: JsonObject,
  schemas: InputSchemas,
  document: JsonObject,
): BodyArgument | string | undefined {
  const content = Object.entries(schemaObject(given));
  if (content.length === 0) return undefined;
  for (const [kind, pattern] of KINDS) {
    const [type, media] = content.find(([each]) => pattern.test(each)) ?? [];
    if (type === undefined || /[^\x20-\x7e]/.test(type)) continue;
    const { schema, encoding } = schemaObject(media);
    const own = followed(schema, document) ?? {};
    switch (kind) {
      case "json":
        if (own.format === "binary") return bytes("application/octet-stream");
        return { schema: schemas.schemaOf(schema), form: undefined };
      case "form": {
        const styles = stylesOf(schemaObject(encoding));
        const form = { kind, ...(styles && { styles }) };
        return { schema: schemas.schemaOf(schema), form };
      }
      case "multipart":
        return multipart(own, schemaObject(encoding), schemas, document);
      case "text":
        return {
          schema: { type: "string", description: `A text (${type}).` },
          form: { kind, type },
        };
      case "bytes":
        return bytes(type);
    }
  }
  return `no media type of its body is supported: ${content.map(([type]) => type).join(", ")}`;
}

function bytes(type: string): BodyArgument {
  return { schema: file("The content"), form: { kind: "bytes", type } };
}

function file(description: string): JsonObject {
  return { type: "string", contentEncoding: "base64", description: `${description} (base64)` };
}

/** Returns the styles of a form's values (OpenAPI, encoding object); `undefined` if all have the default. */
function stylesOf(encoding: JsonObject): ParameterStyles | undefined {
  const styles = Object.entries(encoding).flatMap(([name, each]) => {
    const { style, explode, contentType } = schemaObject(each);
    const isJson = style === undefined && JSON_TYPE.test(String(contentType));
    const own = isJson ? "json" : parameterStyle(style, explode);
    return own === undefined ? [] : [[name, own] as const];
  });
  return styles.length === 0 ? undefined : Object.fromEntries(styles);
}

function multipart(
  own: JsonObject,
  encoding: JsonObject,
  schemas: InputSchemas,
  document: JsonObject,
): BodyArgument {
  const schema = schemas.schemaOf(own);
  const parts = Object.entries(schemaObject(own.properties)).flatMap(([name, given]) => {
    const part = followed(given, document) ?? {};
    const items = followed(part.items, document) ?? {};
    const isFile = isBinary(part) || (part.type === "array" && isBinary(items));
    const [word] = String(schemaObject(encoding[name]).contentType ?? "").split(",");
    const type = MEDIA_TYPE.test(word?.trim() ?? "") ? word?.trim() : undefined;
    const known = type ?? (isFile ? "application/octet-stream" : undefined);
    const found: OpenApiPart = { ...(known && { type: known }), ...(isFile && { isFile }) };
    return Object.keys(found).length === 0 ? [] : [{ name, part, found }];
  });
  const files = parts.flatMap(({ name, part, found }) => {
    if (found.isFile !== true) return [];
    const shown = file(typeof part.description === "string" ? part.description : "The file");
    const isList = part.type === "array";
    return [[name, isList ? { type: "array", items: shown } : shown] as const];
  });
  const named = Object.fromEntries(parts.map(({ name, found }) => [name, found]));
  return {
    schema: {
      ...schema,
      type: "object",
      ...(files.length > 0 && {
        properties: { ...schemaObject(schema.properties), ...Object.fromEntries(files) },
      }),
    },
    form: { kind: "multipart", ...(parts.length > 0 && { parts: named }) },
  };
}

/** Whether a schema describes bytes: OpenAPI 3.0's formats, or a media type of 3.1. */
function isBinary({ type, format, contentMediaType, contentEncoding }: JsonObject): boolean {
  const isText = type === undefined || itemsOf(type).includes("string") || type === "string";
  if (!isText) return false;
  return (
    format === "binary" ||
    format === "byte" ||
    contentEncoding === "base64" ||
    (contentMediaType !== undefined && !JSON_TYPE.test(String(contentMediaType)))
  );
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
