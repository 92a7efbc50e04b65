import { isJsonObject } from "../../../../runtime/json/json-object.ts";
import { type DataPath, JSON_BODY } from "./data-path.ts";

/** A JSON object under construction. */
interface JsonObject {
  [field: string]: unknown;
}

/**
 * A request as expressions see it: `{"request": {"path": "/"}, "jwt": {"sub": "eve"}, "mcp": {"tool": {"name": "x"}}}`.
 * Missing parts are absent; without any data it is `GET /`.
 */
export type RequestData = Readonly<Record<string, unknown>>;

/** Values that `variablesFrom` fills in for missing ones. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  "request.method": "GET",
  "request.path": "/",
  "request.host": "localhost",
  "request.scheme": "http",
  "request.version": "HTTP/1.1",
  "source.address": "127.0.0.1",
  "source.port": 0,
  "env.podName": "",
  "env.namespace": "",
  "env.gateway": "",
};

/** Kinds of MCP items, and `none` for requests without one. */
export const ITEM_KINDS = ["tool", "prompt", "resource", "none"] as const;

/** Path of the kind of a request's MCP item. */
export const ITEM: DataPath = ["mcp", "item"];

/** Returns the value at a path; `undefined` if it is absent. */
export function dataAt(path: DataPath, data: RequestData): unknown {
  if (path[0] === "mcp" && path[1] === "item") {
    return ITEM_KINDS.find((kind) => fieldOf(data.mcp, kind) !== undefined) ?? "none";
  }
  const [root, ...rest] = path;
  const isBody = root === JSON_BODY;
  let value: unknown = isBody ? bodyOf(data) : data;
  for (const step of isBody ? rest : path) value = fieldOf(value, step);
  return value ?? DEFAULTS[path.join(".")] ?? value;
}

/** Returns the elements of a list or the keys of a map, which `in`, `exists` and `size` test. */
export function listElements(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** Creates data with values at paths, given with owners before their fields; `undefined` removes a value. */
export function dataWith(values: readonly (readonly [DataPath, unknown])[]): RequestData {
  const data: JsonObject = {};
  for (const [path, value] of values) put(data, path, value);
  return Object.hasOwn(data, JSON_BODY) ? withBody(data) : data;
}

/** Returns a copy of the data with another value at a path. */
export function withValue(data: RequestData, path: DataPath, value: unknown): RequestData {
  if (path[0] !== JSON_BODY) return changed(data, path, value);
  return withBody(changed({ ...data, [JSON_BODY]: bodyOf(data) }, path, value));
}

function changed(data: RequestData, path: DataPath, value: unknown): RequestData {
  const [first = "", ...rest] = path;
  if (rest.length === 0) return { ...data, [first]: value };
  const inner = data[first];
  return { ...data, [first]: changed(isJsonObject(inner) ? inner : {}, rest, value) };
}

/** Parses the body; `undefined` if it is not JSON. */
function bodyOf({ request }: RequestData): unknown {
  const body = fieldOf(request, "body");
  if (typeof body !== "string") return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Serializes the value of the JSON body into the body. */
function withBody({ [JSON_BODY]: body, ...data }: RequestData): RequestData {
  const request = isJsonObject(data.request) ? data.request : {};
  return body === undefined
    ? data
    : { ...data, request: { ...request, body: JSON.stringify(body) } };
}

function put(data: JsonObject, path: DataPath, value: unknown): void {
  const [first = "", second] = path;
  if (first === "mcp" && second === "item") {
    const kind = String(value);
    data.mcp = kind === "none" ? {} : { [kind]: { name: "other", target: "other" } };
    return;
  }
  const owner = path.slice(0, -1).reduce((object, step) => objectIn(object, step), data);
  const last = path.at(-1) ?? first;
  if (value === undefined) delete owner[last];
  else owner[last] = isJsonObject(value) ? { ...value } : value;
}

function objectIn(owner: JsonObject, field: string): JsonObject {
  const known = owner[field];
  const object = isJsonObject(known) ? known : {};
  owner[field] = object;
  return object;
}

function fieldOf(value: unknown, field: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
}
