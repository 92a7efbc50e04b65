import { isMembers, type JsonMembers, type JsonValue, parsed } from "./schema-form.tsx";
import type { McpMessage } from "./sender.tsx";

/** Kind of a thing that MCP servers offer. */
export type ItemKind = "tool" | "prompt" | "resource";

/** A tool, prompt or resource as its server lists it. */
export interface Item {
  /** Name; of a resource its URI. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Schema of the arguments. */
  readonly schema: unknown;
}

/** Words and methods of a kind. */
interface KindWords {
  readonly title: string;
  readonly plural: string;
  readonly call: string;
  readonly list: string;
  readonly method: string;
}

/** Words and methods of each kind. */
export const KINDS: Readonly<Record<ItemKind, KindWords>> = {
  tool: {
    ...{ title: "Tools", plural: "tools", call: "Call tool" },
    ...{ list: "tools/list", method: "tools/call" },
  },
  prompt: {
    ...{ title: "Prompts", plural: "prompts", call: "Get prompt" },
    ...{ list: "prompts/list", method: "prompts/get" },
  },
  resource: {
    ...{ title: "Resources", plural: "resources", call: "Read resource" },
    ...{ list: "resources/list", method: "resources/read" },
  },
};

/** Returns the message that calls a tool, gets a prompt or reads a resource. */
export function callOf(kind: ItemKind, name: string, value: JsonMembers): McpMessage {
  const params = kind === "resource" ? { uri: name } : { name, arguments: value };
  return { method: KINDS[kind].method, params };
}

/** Returns the items of a response to a list; `undefined` if it is no list. */
export function itemsIn(kind: ItemKind, body: string): readonly Item[] | undefined {
  const message = parsed(body);
  const result = isMembers(message) ? message.result : undefined;
  const list = isMembers(result) ? result[KINDS[kind].plural] : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.filter(isMembers).flatMap((each) => {
    const { name, uri, title, description } = each;
    const id = kind === "resource" ? uri : name;
    if (typeof id !== "string") return [];
    return [
      {
        name: id,
        title: textOf(title) || (kind === "resource" ? textOf(name) : ""),
        description: textOf(description),
        schema: kind === "prompt" ? schemaOfPrompt(each.arguments) : each.inputSchema,
      },
    ];
  });
}

/** Returns an item that the reader typed by its name: rules decide about it, too. */
export function unlisted(name: string): Item | undefined {
  if (name === "") return undefined;
  return { name, title: "", description: "Not in the list of this caller.", schema: {} };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Prompts have a list of arguments, which are strings, and no schema. */
function schemaOfPrompt(given: JsonValue | undefined): object {
  const list = Array.isArray(given) ? given.filter(isMembers) : [];
  const named = list.flatMap(({ name, description, required }) =>
    typeof name === "string" ? [{ name, description, isRequired: required === true }] : [],
  );
  return {
    type: "object",
    properties: Object.fromEntries(
      named.map(({ name, description }) => [name, { type: "string", description }]),
    ),
    required: named.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}

/** A question of a server that a stateless client answers with its next request (MCP 2026-07-28). */
export interface Question {
  readonly id: string;
  readonly message: string;
  /** Schema of the answer; `undefined` if only a program could answer. */
  readonly schema: unknown;
  readonly method: string;
}

/** Questions of a result, and the state that the answers carry; `undefined` if the result asks nothing. */
export function questionsIn(
  body: string,
): { readonly questions: readonly Question[]; readonly state: JsonValue | undefined } | undefined {
  const message = parsed(body);
  const result = isMembers(message) ? message.result : undefined;
  if (!isMembers(result) || result.resultType !== "input_required") return undefined;
  const asked = isMembers(result.inputRequests) ? Object.entries(result.inputRequests) : [];
  const questions = asked.map(([id, request]) => {
    const { method, params } = isMembers(request) ? request : { method: "", params: null };
    const { message: said, requestedSchema } = isMembers(params)
      ? params
      : { message: "", requestedSchema: undefined };
    const isForm = method === "elicitation/create" && isMembers(requestedSchema);
    const schema = isForm ? requestedSchema : undefined;
    return { id, message: textOf(said), schema, method: textOf(method) };
  });
  return { questions, state: result.requestState };
}
