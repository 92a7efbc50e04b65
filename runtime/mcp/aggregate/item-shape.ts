import { isJsonObject } from "../../json/json-object.ts";
import type { ItemList } from "../protocol/item-lists.ts";
import type { TargetEraName } from "../transports/target-era.ts";

/**
 * Returns what is wrong with an entry of a list, as JSON text, if client libraries refuse it: they refuse the whole list
 * with it (MCP 2025-11-25 and 2026-07-28, schema). `undefined` if they accept it. `era` is the client's.
 */
export function shapeProblem(list: ItemList, text: string, era: TargetEraName): string | undefined {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) return "it is not an object";
  if (!Object.hasOwn(value, "name")) return "it has no name";
  const problem = problemIn(value, MEMBERS[list]);
  if (problem !== undefined) return problem;
  if (list === "resources") return uriProblem(value, era);
  return list === "tools" ? toolProblem(value, era) : undefined;
}

/** Returns what is wrong with a URI for libraries of sessions: those of Python read it as an absolute URL. */
function uriProblem({ uri }: JsonRecord, era: TargetEraName): string | undefined {
  const isAbsolute = typeof uri === "string" && URL.canParse(uri);
  return era === "stateless" || isAbsolute ? undefined : "uri is not an absolute URI";
}

type JsonRecord = { readonly [name: string]: unknown };

/** Returns what is wrong with a value; `undefined` if nothing is. */
type Check = (value: unknown) => string | undefined;

/** The checks of known members; absent members pass. */
type Members = { readonly [name: string]: Check };

function problemIn(value: JsonRecord, members: Members): string | undefined {
  for (const [name, check] of Object.entries(members)) {
    if (!Object.hasOwn(value, name)) continue;
    const problem = check(value[name]);
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
}

function ofType(type: "string" | "boolean"): Check {
  return (value) => (typeof value === type ? undefined : `is not a ${type}`);
}

const text = ofType("string");
const boolean = ofType("boolean");

function record(members: Members = {}, required: readonly string[] = []): Check {
  return (value) => {
    if (!isJsonObject(value)) return "is not an object";
    const missing = required.find((name) => !Object.hasOwn(value, name));
    return missing === undefined ? problemIn(value, members) : `has no ${missing}`;
  };
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return "is not an array";
    for (const each of value) {
      const problem = check(each);
      if (problem !== undefined) return `has an entry that ${problem}`;
    }
    return undefined;
  };
}

function oneOf(...words: readonly string[]): Check {
  return (value) =>
    words.some((word) => word === value) ? undefined : `is not one of ${words.join(", ")}`;
}

function within(min: number, max: number, isWhole: boolean): Check {
  return (value) => {
    const isNumber = typeof value === "number" && value >= min && value <= max;
    return isNumber && (!isWhole || Number.isInteger(value)) ? undefined : "is out of range";
  };
}

/** A time as in RFC 3339. */
const TIME =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const time: Check = (value) => {
  const day = typeof value === "string" ? TIME.exec(value)?.[1] : undefined;
  const at = new Date(`${day}T00:00:00Z`);
  const isReal = !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === day;
  return isReal ? undefined : "is not a time";
};

const sized = { src: text, mimeType: text, sizes: listOf(text), theme: oneOf("light", "dark") };

const described: Members = {
  name: text,
  title: text,
  description: text,
  icons: listOf(record(sized, ["src"])),
  _meta: record(),
};

const ofResources: Members = {
  ...described,
  mimeType: text,
  size: within(0, Number.MAX_SAFE_INTEGER, true),
  annotations: record({
    audience: listOf(oneOf("user", "assistant")),
    priority: within(0, 1, false),
    lastModified: time,
  }),
};

const MEMBERS: Readonly<Record<ItemList, Members>> = {
  tools: {
    ...described,
    annotations: record({
      title: text,
      readOnlyHint: boolean,
      destructiveHint: boolean,
      idempotentHint: boolean,
      openWorldHint: boolean,
    }),
    execution: record({ taskSupport: oneOf("required", "optional", "forbidden") }),
  },
  prompts: {
    ...described,
    arguments: listOf(record({ name: text, description: text, required: boolean }, ["name"])),
  },
  resources: ofResources,
  resourceTemplates: ofResources,
};

function toolProblem(tool: JsonRecord, era: TargetEraName): string | undefined {
  const input = objectSchema(tool.inputSchema, era);
  if (input !== undefined) return `inputSchema ${input}`;
  if (!Object.hasOwn(tool, "outputSchema")) return undefined;
  // Revision 2026-07-28 allows any schema.
  const check = era === "sessions" ? objectSchema : record({ $schema: text });
  const output = check(tool.outputSchema, era);
  return output === undefined ? undefined : `outputSchema ${output}`;
}

/** Libraries of revisions with sessions accept only objects as the schemas of properties. */
function objectSchema(value: unknown, era: TargetEraName): string | undefined {
  if (!isJsonObject(value)) return value === undefined ? "is missing" : "is not an object";
  if (value.type !== "object") return 'is not of type "object"';
  const members = { $schema: text, properties: record(), required: listOf(text) };
  const problem = problemIn(value, members);
  if (problem !== undefined || era === "stateless" || !isJsonObject(value.properties))
    return problem;
  const odd = Object.values(value.properties).some((schema) => !isJsonObject(schema));
  return odd ? "has a property whose schema is not an object" : undefined;
}
