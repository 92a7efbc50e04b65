import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { NoteFeature } from "../../chat/features.ts";
import type { ListedTool } from "../../chat/request.ts";
import { refuseIndirect, refuseLimit } from "../../chat/request-fields.ts";
import { RequestObject, unsupportedField } from "../../chat/request-object.ts";
import { readFunctionTool } from "../openai-fields.ts";
import { isFilledText } from "../parse-object.ts";
import { isOpenAiHosted } from "./hosted-tools.ts";
import { isSearchType } from "./web-search.ts";

/** Kind of a tool of the client, which determines the items of its calls. */
export type ToolKind =
  | "function"
  | "custom"
  | "local_shell"
  | "shell"
  | "apply_patch"
  | "tool_search";

/** A tool of the client that other formats only know as a function. */
export interface AgentTool {
  readonly kind: ToolKind;
  /** Its name in the namespace. */
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Returns the name of a tool of a namespace as a function of its own. */
export function flatName(namespace: string | undefined, name: string): string {
  if (namespace === undefined) return name;
  return namespace.endsWith("__") ? `${namespace}${name}` : `${namespace}__${name}`;
}

/** Returns the name of the function for a tool in a choice of tools; `undefined` for tools of OpenAI's own servers. */
export function agentToolName(tool: RequestObject): string | undefined {
  const type = tool.text("type");
  if (type === "function" || type === "custom") {
    return flatName(tool.optionalText("namespace"), tool.text("name"));
  }
  return type in BUILT_IN || type === "tool_search" ? type : undefined;
}

/** A tool as a function, and the tool that it stands for. */
export interface ReadTool {
  readonly listed: ListedTool;
  readonly tool: AgentTool;
}

/**
 * Reads a tool as functions. Empty for tools of OpenAI's own servers that other providers have. Throws LlmRefusal for the
 * others.
 */
export function readAgentTools(
  tool: RequestObject,
  note: NoteFeature,
  namespace?: string,
): readonly ReadTool[] {
  const type = tool.text("type");
  refuseIndirect(tool);
  switch (type) {
    case "function":
      return [toolOf("function", readFunctionTool(tool, note), namespace)];
    case "custom":
      return [toolOf("custom", freeformTool(tool), namespace)];
    case "namespace": {
      const name = tool.text("name");
      return tool.objects("tools").flatMap((each) => readAgentTools(each, note, name));
    }
    case "local_shell":
      return [toolOf(type, BUILT_IN.local_shell)];
    case "shell":
      refuseContainer(tool);
      return [toolOf(type, BUILT_IN.shell)];
    case "apply_patch":
      return [toolOf(type, BUILT_IN.apply_patch)];
    case "tool_search":
      // A search by the server finds tools of the list, which is sent as a whole.
      return tool.any("execution") === "client" ? [toolOf("tool_search", search(tool))] : [];
    default:
      if (isSearchType(type) || isOpenAiHosted(type)) return [];
      throw unsupportedField(tool.at("type"), `a tool of type "${type}"`);
  }
}

function toolOf(kind: ToolKind, listed: ListedTool, namespace?: string): ReadTool {
  const { name } = listed;
  return {
    listed: { ...listed, name: flatName(namespace, name) },
    tool: { kind, name, namespace },
  };
}

/** Returns a tool whose input is any text as a function with one string. Chat completions nest its grammar in an object. */
export function freeformTool(tool: RequestObject): ListedTool {
  const format = tool.object("format");
  const written = format?.object("grammar") ?? format;
  const grammar = written?.optionalText("definition");
  const syntax = written?.optionalText("syntax") ?? "regex";
  const description = [
    tool.optionalText("description"),
    grammar && `\`input\` must match this ${syntax} grammar:\n${grammar}`,
  ];
  return {
    name: tool.text("name"),
    description: description.filter(isFilledText).join("\n\n") || undefined,
    schema: {
      type: "object",
      properties: { input: { type: "string", description: "The whole input, as plain text." } },
      required: ["input"],
      additionalProperties: false,
    },
    isStrict: undefined,
    isCached: false,
  };
}

function search(tool: RequestObject): ListedTool {
  return {
    name: "tool_search",
    description: tool.optionalText("description") ?? "Searches for more tools.",
    schema: tool.any("parameters") ?? QUERY,
    isStrict: undefined,
    isCached: false,
  };
}

const QUERY = {
  type: "object",
  properties: { query: { type: "string" } },
  required: ["query"],
};

/** Refuses a shell in a container of OpenAI. */
function refuseContainer(tool: RequestObject): void {
  const environment = tool.object("environment");
  if (environment === undefined) return;
  if (environment.text("type") !== "local") {
    // Without its environment, it would be a shell on the user's machine.
    throw unsupportedField(tool.at("type"), "a shell in a container of the provider");
  }
  refuseLimit(environment, "skills", tool.at("type"), [[]]);
}

const STRINGS = { type: "array", items: { type: "string" } };

/** Tools of the client that OpenAI's models know by their types alone, with the fields of their calls. */
const BUILT_IN = {
  local_shell: builtIn(
    "local_shell",
    "Runs a command on the user's machine and returns its output.",
    {
      command: { ...STRINGS, description: "Program and arguments." },
      working_directory: { type: "string" },
      timeout_ms: { type: "integer" },
    },
    ["command"],
  ),
  shell: builtIn(
    "shell",
    "Runs commands of a shell on the user's machine and returns the output of each.",
    {
      commands: { ...STRINGS, description: "Commands, which run at the same time." },
      timeout_ms: { type: "integer" },
      max_output_length: { type: "integer", description: "Maximum characters of each output." },
    },
    ["commands"],
  ),
  apply_patch: builtIn(
    "apply_patch",
    "Creates, updates or deletes a file of the user.",
    {
      type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
      path: { type: "string" },
      diff: {
        type: "string",
        description:
          "Lines of the file: each starts with +, - or a space; @@ starts a section. Not for delete_file.",
      },
    },
    ["type", "path"],
  ),
} as const;

function builtIn(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
): ListedTool {
  const schema = { type: "object", properties, required };
  return { name, description, schema, isStrict: undefined, isCached: false };
}

/** Finds the client's tools by the names of the functions that stand for them. */
export class AgentTools {
  readonly #body: JsonObject;
  #byName: ReadonlyMap<string, AgentTool> | undefined;

  /** `body`: a valid request. */
  constructor(body: JsonObject) {
    this.#body = body;
  }

  /** Returns the tool of a call; a function if the client has none of this name. */
  of(name: string): AgentTool {
    this.#byName ??= new Map(
      toolLists(new RequestObject(this.#body)).flatMap((tools) =>
        tools.flatMap((tool) =>
          readableTools(tool).map(({ listed, tool: own }) => [listed.name, own] as const),
        ),
      ),
    );
    return this.#byName.get(name) ?? { kind: "function", name, namespace: undefined };
  }
}

/** Returns the functions of a tool; none of a tool that was left out of the request. */
function readableTools(tool: RequestObject): readonly ReadTool[] {
  try {
    return readAgentTools(tool, () => {});
  } catch {
    return [];
  }
}

/** Returns the lists of tools in a request: the listed ones, and those that the client has searched for. */
export function toolLists(body: RequestObject): readonly (readonly RequestObject[])[] {
  const input = body.any("input");
  const items = Array.isArray(input) ? input : [];
  const found = items.flatMap((item, index) =>
    isJsonObject(item) && item.type === "tool_search_output"
      ? [RequestObject.of(item, `input[${index}]`).objects("tools")]
      : [],
  );
  return [body.objects("tools"), ...found];
}
