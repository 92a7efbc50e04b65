import { isJsonObject } from "../../../runtime/json/json-object.ts";
import * as samples from "./tool-samples.ts";

/** A request with a tool, and those with each of its members. */
export interface ToolCase {
  readonly name: string;
  /** Members of the request. */
  readonly tool: object;
  /** Path that an error names: that of the tool, or the start of one. */
  readonly whole: string;
  /** Path of the member that is tried. */
  readonly member?: string;
  readonly members: readonly ToolCase[];
}

const docs = { type: "url", name: "docs", url: "https://docs.test/mcp" };

/** Returns the tools of a format. */
export function toolCases(client: string): readonly ToolCase[] {
  switch (client) {
    case "completions":
      return [
        one("web_search_options", { web_search_options: {} }, "web_search_options", [
          ["search_context_size", { web_search_options: { search_context_size: "high" } }],
          ["user_location", { web_search_options: { user_location: located } }],
          ["filters", { web_search_options: { filters: { allowed_domains: ["a.test"] } } }],
        ]),
        ...samples.completions.map((tool) => one(tool.type, { tools: [tool] }, "tools[0]")),
      ];
    case "responses":
      return listed(samples.responses, () => ({}));
    case "messages":
      return listed(samples.messages, (type) =>
        type === "mcp_toolset" ? { mcp_servers: [docs] } : {},
      );
    case "generate-content":
      return Object.entries(samples.generateContent).map(([name, [first, ...others]]) =>
        one(
          name,
          { tools: [{ [name]: first }] },
          "tools[0]",
          others.flatMap((value) =>
            Object.keys(value).map((member) => [member, { tools: [{ [name]: value }] }] as const),
          ),
        ),
      );
    default:
      return samples.converse.map((tool) =>
        one(Object.keys(tool).join(), { toolConfig: { tools: [tool] } }, "toolConfig.tools[0]"),
      );
  }
}

const located = { type: "approximate", approximate: { country: "CH" } };

function listed(all: samples.ToolSamples, more: (type: string) => object): readonly ToolCase[] {
  return Object.entries(all).map(([type, { tool, members }]) => {
    const request = (own: object) => ({ tools: [{ type, ...tool, ...own }], ...more(type) });
    const whole = type === "mcp_toolset" ? "mcp_servers" : "tools[0]";
    const tried = Object.entries(members).flatMap(([member, values]) =>
      values.map((value) => [pathOf(member, value), request({ [member]: value })] as const),
    );
    return one(type, request({}), whole, tried);
  });
}

function one(
  name: string,
  tool: object,
  whole: string,
  members: readonly (readonly [member: string, request: object])[] = [],
): ToolCase {
  return {
    name,
    tool,
    whole,
    members: members.map(([member, request]) => ({
      ...{ name: `${name} ${JSON.stringify(request)}`, tool: request, whole },
      ...{ member, members: [] },
    })),
  };
}

/** Returns the path of a value inside of a member: `configs.find.enabled`. */
function pathOf(member: string, value: unknown): string {
  if (!isJsonObject(value)) return member;
  const [[key, inner] = ["", undefined], ...others] = Object.entries(value);
  return key === "" || others.length > 0 ? member : pathOf(`${member}.${key}`, inner);
}

/** Members that `unsupported: drop` leaves out without the tool. */
export const optionalMembers: ReadonlySet<string> = new Set([
  ...["citations.enabled", "max_content_tokens", "use_cache"],
  ...["response_inclusion", "search_content_types"],
]);

/** Members that are left out for providers, as the completion is right without them, by the format of clients. */
export const toolHints: Readonly<Record<string, string>> = {
  "completions search_context_size": "Anthropic; Gemini; Vertex AI, Claude",
  "completions user_location": "Gemini",
  "messages cache_control": "OpenAI, Responses; OpenAI, chat completions; Gemini",
  "messages configs.find.defer_loading": "OpenAI, Responses",
  "messages default_config.defer_loading": "OpenAI, Responses",
  "messages defer_loading": "OpenAI, Responses; OpenAI, chat completions; Gemini; Bedrock",
  "messages eager_input_streaming": "OpenAI, Responses; OpenAI, chat completions; Gemini; Bedrock",
  "messages input_examples": "OpenAI, Responses; OpenAI, chat completions; Gemini; Bedrock",
  "messages max_characters": "OpenAI, Responses; OpenAI, chat completions; Gemini; Bedrock",
  "messages max_uses": "Gemini",
  "messages strict": "OpenAI, Responses; Gemini",
  "messages user_location": "Gemini",
  "responses defer_loading":
    "OpenAI, chat completions; Anthropic; Gemini; Vertex AI, Claude; Bedrock",
  "responses output_schema":
    "OpenAI, chat completions; Anthropic; Gemini; Vertex AI, Claude; Bedrock",
  "responses search_context_size": "Anthropic; Gemini; Vertex AI, Claude",
  "responses server_description": "Anthropic",
  "responses user_location": "Gemini",
};
