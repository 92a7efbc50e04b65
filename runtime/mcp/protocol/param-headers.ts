import { encodeHeader } from "./header-names.ts";
import { type Message, textAt } from "./message.ts";
import { paramOf } from "./message-edit.ts";
import { fieldOf } from "./message-fields.ts";

/** An argument of a tool that calls over HTTP repeat in a header (MCP 2026-07-28, `x-mcp-header`). */
export interface ParamHeader {
  /** For example `mcp-param-region`. */
  readonly header: string;
  /** The path of member names to the argument. */
  readonly path: readonly string[];
}

/** Returns the repeated arguments of the tools in a list, by tool name; tools without any are omitted. */
export function listedParamHeaders({
  text,
  result,
}: Message): ReadonlyMap<string, readonly ParamHeader[]> {
  if (result === undefined || !text.includes("x-mcp-header")) return new Map();
  const at = fieldOf(text, result, "tools");
  const tools: unknown = at === undefined ? [] : JSON.parse(textAt(text, at));
  const all = (Array.isArray(tools) ? tools : []).map(
    (tool) => [memberOf(tool, "name"), headersBelow(memberOf(tool, "inputSchema"), [])] as const,
  );
  return new Map(
    all.flatMap(([name, headers]) =>
      typeof name === "string" && headers.length > 0 ? [[name, headers] as const] : [],
    ),
  );
}

/** Returns the headers that repeat the arguments of a call, as a flat list; missing and null arguments have no header. */
export function paramHeaderList(request: Message, params: readonly ParamHeader[]): string[] {
  const at = paramOf(request, "arguments");
  if (params.length === 0 || at === undefined) return [];
  const given: unknown = JSON.parse(textAt(request.text, at));
  return params.flatMap(({ header, path }) => {
    const value = path.reduce(memberOf, given);
    const isText = typeof value === "string" || typeof value === "boolean";
    return isText || Number.isInteger(value) ? [header, encodeHeader(String(value))] : [];
  });
}

/** Whether a header repeats an argument. */
export function isParamHeader(name: string): boolean {
  return name.toLowerCase().startsWith(PREFIX);
}

const PREFIX = "mcp-param-";

/** Only `properties` lead to an argument. */
function headersBelow(schema: unknown, path: readonly string[]): readonly ParamHeader[] {
  const name = memberOf(schema, "x-mcp-header");
  const isMarked = typeof name === "string" && path.length > 0 && TOKEN.test(name);
  const own = isMarked ? [{ header: `${PREFIX}${name.toLowerCase()}`, path }] : [];
  const properties = memberOf(schema, "properties");
  if (typeof properties !== "object" || properties === null) return own;
  const below = Object.entries(properties).flatMap(([key, each]) =>
    headersBelow(each, [...path, key]),
  );
  return [...own, ...below];
}

/** RFC 9110 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
