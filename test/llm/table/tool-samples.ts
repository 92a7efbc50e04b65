import type Anthropic from "@anthropic-ai/sdk";
import type { Tool as BedrockTool } from "@aws-sdk/client-bedrock-runtime";
import type { Tool as GoogleTool } from "@google/genai";
import type OpenAI from "openai";

/** A tool as clients list it. */
export interface ToolSample {
  readonly tool: object;
  /** Values of its other members, each of which asks for something. */
  readonly members: Readonly<Record<string, readonly unknown[]>>;
}

/** Samples of a format, by the types of tools. */
export type ToolSamples = Readonly<Record<string, ToolSample>>;

type ResponseTool = OpenAI.Responses.Tool;
type MessageTool = Anthropic.Beta.Messages.BetaToolUnion;

/** The types of a union of tools. */
type TypeOf<Tool extends { type?: string | null }> = Extract<Tool["type"], string>;

/** The tool of a union that has a type. */
type OfType<Tool, Type> = Tool extends { type?: infer Own }
  ? Type extends Own
    ? Tool
    : never
  : never;

/**
 * A sample of each type of tool in an SDK, with every member that a client may omit: the compiler reports those that a newer
 * SDK adds.
 */
type AllOf<Tool extends { type?: string | null }> = {
  readonly [Type in TypeOf<Tool>]: {
    readonly tool: object;
    readonly members: {
      readonly [Name in OptionalOf<OfType<Tool, Type>>]: readonly unknown[];
    };
  };
};

type OptionalOf<Tool> = keyof {
  [Name in keyof Tool as object extends Pick<Tool, Name> ? Name : never]: Name;
};

const location = { type: "approximate", country: "CH", city: "Bern" };
const search = {
  tool: {},
  members: {
    filters: [{ allowed_domains: ["a.test"] }],
    search_context_size: ["high"],
    user_location: [location],
  },
};
const preview = {
  tool: {},
  members: {
    search_content_types: [["image"]],
    search_context_size: ["high"],
    user_location: [location],
  },
};
const programmatic = { allowed_callers: [["programmatic"]] };

/** Tools of OpenAI's Responses. */
export const responses = {
  function: {
    tool: { name: "look", parameters: { type: "object", properties: {} }, strict: false },
    members: {
      ...programmatic,
      defer_loading: [true],
      description: ["Looks."],
      output_schema: [{ type: "object", properties: {} }],
    },
  },
  custom: {
    tool: { name: "raw" },
    members: {
      ...programmatic,
      defer_loading: [true],
      description: ["Runs."],
      format: [{ type: "grammar", syntax: "regex", definition: "a+" }],
    },
  },
  namespace: {
    tool: { name: "crm", description: "CRM", tools: [{ type: "function", name: "look" }] },
    members: {},
  },
  web_search: search,
  web_search_2025_08_26: search,
  web_search_preview: preview,
  web_search_preview_2025_03_11: preview,
  file_search: {
    tool: { vector_store_ids: ["vs_1"] },
    members: { filters: [], max_num_results: [3], ranking_options: [{ ranker: "auto" }] },
  },
  code_interpreter: {
    tool: { container: { type: "auto" } },
    members: programmatic,
  },
  mcp: {
    tool: { server_label: "docs", server_url: "https://docs.test/mcp", require_approval: "never" },
    members: {
      ...programmatic,
      allowed_tools: [["find"], { tool_names: ["find"] }, { read_only: true }],
      authorization: ["token"],
      connector_id: ["connector_gmail"],
      defer_loading: [true],
      headers: [{ authorization: "Bearer token" }, { "x-a": "b" }],
      require_approval: ["always", { always: { tool_names: ["find"] } }],
      server_description: ["Documents"],
      server_url: [],
      tunnel_id: ["tunnel_1"],
    },
  },
  image_generation: {
    tool: {},
    members: {
      action: ["edit"],
      background: ["opaque"],
      input_fidelity: ["high"],
      input_image_mask: [{ file_id: "file_1" }],
      model: ["gpt-image-1"],
      moderation: ["low"],
      output_compression: [50],
      output_format: ["jpeg"],
      partial_images: [2],
      quality: ["low"],
      size: ["1024x1024"],
    },
  },
  computer: { tool: {}, members: {} },
  computer_use_preview: {
    tool: { display_height: 600, display_width: 800, environment: "browser" },
    members: {},
  },
  programmatic_tool_calling: { tool: {}, members: {} },
  local_shell: { tool: {}, members: {} },
  shell: {
    tool: {},
    members: {
      ...programmatic,
      environment: [
        { type: "container_auto" },
        { type: "container_reference", container_id: "cntr_1" },
        { type: "local", skills: [{ name: "s", description: "d", path: "/s" }] },
      ],
    },
  },
  apply_patch: { tool: {}, members: programmatic },
  tool_search: {
    tool: {},
    members: {
      description: ["Finds tools."],
      execution: ["client"],
      parameters: [{ type: "object", properties: { goal: { type: "string" } } }],
    },
  },
} satisfies AllOf<ResponseTool>;

const called = { allowed_callers: [["code_execution_20250825"]] };
const common = {
  ...called,
  cache_control: [{ type: "ephemeral", ttl: "5m" }],
  defer_loading: [true],
  strict: [true],
};
const withExamples = { ...common, input_examples: [[{ command: "ls" }]] };
const screen = { name: "computer", display_height_px: 600, display_width_px: 800 };
const onScreen = { ...withExamples, display_number: [1] };
const code = { tool: { name: "code_execution" }, members: common };
const bash = { tool: { name: "bash" }, members: withExamples };
const older = { tool: { name: "str_replace_editor" }, members: withExamples };
const edit = { tool: { name: "str_replace_based_edit_tool" }, members: withExamples };
const domains = {
  ...common,
  allowed_domains: [["a.test"]],
  blocked_domains: [["b.test"]],
  max_uses: [3],
};
const searching = {
  tool: { name: "web_search" },
  members: { ...domains, user_location: [location] },
};
const fetching = {
  ...domains,
  citations: [{ enabled: true }],
  max_content_tokens: [100],
  url_sources: [{ client_tool_results: { type: "none" } }],
};
const fetchTool = { name: "web_fetch" };
const inclusion = { response_inclusion: ["excluded"] };
const bm25 = { tool: { name: "tool_search_tool_bm25" }, members: common };
const regex = { tool: { name: "tool_search_tool_regex" }, members: common };

/** Tools of Anthropic's messages. */
export const messages = {
  custom: {
    tool: { name: "look", input_schema: { type: "object", properties: {} } },
    members: {
      ...withExamples,
      description: ["Looks."],
      eager_input_streaming: [true],
      type: [],
    },
  },
  bash_20241022: bash,
  bash_20250124: bash,
  text_editor_20241022: older,
  text_editor_20250124: older,
  text_editor_20250429: edit,
  text_editor_20250728: { ...edit, members: { ...withExamples, max_characters: [1000] } },
  memory_20250818: { tool: { name: "memory" }, members: withExamples },
  code_execution_20250522: code,
  code_execution_20250825: code,
  code_execution_20260120: code,
  code_execution_20260521: code,
  computer_20241022: { tool: screen, members: onScreen },
  computer_20250124: { tool: screen, members: onScreen },
  computer_20251124: { tool: screen, members: { ...onScreen, enable_zoom: [true] } },
  computer_toolset_20260801: {
    tool: {},
    members: { cache_control: [{ type: "ephemeral", ttl: "5m" }], configs: [{ zoom: {} }] },
  },
  browser_toolset_20260801: {
    tool: {},
    members: { cache_control: [{ type: "ephemeral", ttl: "5m" }], configs: [{ zoom: {} }] },
  },
  web_search_20250305: searching,
  web_search_20260209: searching,
  web_search_20260318: { ...searching, members: { ...searching.members, ...inclusion } },
  web_fetch_20250910: { tool: fetchTool, members: fetching },
  web_fetch_20260209: { tool: fetchTool, members: fetching },
  web_fetch_20260309: { tool: fetchTool, members: { ...fetching, use_cache: [false] } },
  web_fetch_20260318: {
    tool: fetchTool,
    members: { ...fetching, ...inclusion, use_cache: [false] },
  },
  advisor_20260301: {
    tool: { name: "advisor", model: "claude-opus-4-6" },
    members: {
      ...common,
      caching: [{ type: "ephemeral", ttl: "5m" }],
      max_tokens: [100],
      max_uses: [2],
    },
  },
  tool_search_tool_bm25: bm25,
  tool_search_tool_bm25_20251119: bm25,
  tool_search_tool_regex: regex,
  tool_search_tool_regex_20251119: regex,
  mcp_toolset: {
    tool: { mcp_server_name: "docs" },
    members: {
      cache_control: [{ type: "ephemeral", ttl: "5m" }],
      configs: [{ find: { enabled: false } }, { find: { defer_loading: true } }],
      default_config: [{ enabled: false }, { defer_loading: true }],
      tools: [[{ name: "find", input_schema: {} }]],
    },
  },
} satisfies AllOf<MessageTool>;

/** Tools of Google, which are members of one object: the least of each, and others with more members. */
export const generateContent = {
  functionDeclarations: [[{ name: "look", parametersJsonSchema: { type: "object" } }]],
  googleSearch: [
    {},
    { excludeDomains: ["a.test"] },
    { blockingConfidence: "BLOCK_LOW_AND_ABOVE" },
    { searchTypes: { imageSearch: {} } },
    { timeRangeFilter: { startTime: "2026-01-01T00:00:00Z", endTime: "2026-02-01T00:00:00Z" } },
  ],
  codeExecution: [{}],
  urlContext: [{}],
  mcpServers: [
    [{ name: "docs", streamableHttpTransport: { url: "https://docs.test/mcp" } }],
    [
      {
        name: "docs",
        streamableHttpTransport: {
          url: "https://docs.test/mcp",
          headers: { authorization: "Bearer token" },
        },
      },
    ],
  ],
  retrieval: [{ vertexRagStore: {} }],
  googleMaps: [{}],
  computerUse: [{}],
  enterpriseWebSearch: [{}],
  exaAiSearch: [{}],
  googleSearchRetrieval: [{}],
  parallelAiSearch: [{}],
  fileSearch: [{ fileSearchStoreNames: ["s"] }],
} satisfies { readonly [Name in keyof GoogleTool]-?: readonly object[] };

/** Tools of chat completions, and those that other servers and clients have invented. */
export const completions: readonly (OpenAI.ChatCompletionTool | { readonly type: string })[] = [
  { type: "function", function: { name: "look" } },
  { type: "custom", custom: { name: "raw" } },
  { type: "web_search" },
  { type: "web_search_20250305" },
  { type: "openrouter:web_search" },
  { type: "builtin_function" },
];

/** Tools of Bedrock's Converse. */
export const converse: readonly BedrockTool[] = [
  { toolSpec: { name: "look", inputSchema: { json: { type: "object" } } } },
  { systemTool: { name: "nova_grounding" } },
];
