import { isJsonObject } from "../../../json/json-object.ts";
import { mapObject } from "../../chat/map-values.ts";
import { camelMembers } from "./google-object.ts";

/** Converts a `Schema` of generateContent to JSON Schema. `isClosed`: whether objects have no other properties. */
export function jsonSchemaOf(schema: unknown, isClosed = false): unknown {
  if (!isJsonObject(schema)) return schema;
  const { type, nullable, format, ...others } = camelMembers(schema);
  const own = typeof type === "string" ? type.toLowerCase() : undefined;
  // The format of strings with a list of values, which JSON Schema does not know.
  const isFormat = format !== undefined && format !== "enum";
  return {
    ...(own !== undefined && { type: nullable === true ? [own, "null"] : own }),
    ...(isFormat && { format }),
    ...mapObject(others, (value, key) => convertedMember(value, key, isClosed)),
    ...(isClosed && others.properties !== undefined && { additionalProperties: false }),
  };
}

function convertedMember(value: unknown, key: string, isClosed: boolean): unknown {
  const convert = (each: unknown) => jsonSchemaOf(each, isClosed);
  if (key === "items") return convert(value);
  if (key === "anyOf" && Array.isArray(value)) return value.map(convert);
  if (key === "properties" && isJsonObject(value)) return mapObject(value, convert);
  // Protocol buffers write numbers of 64 bits as strings.
  return COUNTS.has(key) && typeof value === "string" ? Number(value) : value;
}

const COUNTS: ReadonlySet<string> = new Set([
  ...["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"],
]);
