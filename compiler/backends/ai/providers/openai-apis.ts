import type { RouteType } from "../../../model/llm-policies.ts";
import { choice } from "../../../schema/schema.ts";
import type { LlmBranch, LlmEndpoint } from "./provider.ts";

/** APIs for chats that servers of OpenAI's kind have. */
export const CHAT_APIS = ["responses", "completions", "messages"] as const;

/** An API for chats. */
export type ChatApi = (typeof CHAT_APIS)[number];

/** Returns the schema of the API that is called for all clients. */
export function apiField<const Api extends ChatApi>(apis: readonly Api[]) {
  return choice(
    "API that is called for clients of every format: `responses` of OpenAI, its chat `completions`, or `messages` of Anthropic. `auto` calls the client's own API if the server has it. At OpenAI and Azure, it calls `responses` for requests that their chat completions refuse, such as tools for models that reason.",
    ["auto", ...apis],
    { default: "auto" },
  );
}

/** API of each kind of client. */
const CLIENT_APIS = {
  Completions: "completions",
  Messages: "messages",
  Responses: "responses",
  // No such server has the API of Google or Bedrock.
  GenerateContent: undefined,
  Converse: undefined,
} as const satisfies { readonly [Type in RouteType]?: ChatApi | undefined };

/** The kinds of clients that chat. */
export type ChatType = keyof typeof CLIENT_APIS;

/** A server of OpenAI's kind. */
export interface ChatServer {
  readonly api: "auto" | ChatApi | undefined;
  /** APIs that `auto` chooses from. */
  readonly apis: readonly ChatApi[];
  /** Whether it is a host of OpenAI or Azure, which refuse some requests to chat completions. */
  readonly isOwnServer: boolean;
  /** Fixed model; `undefined` if requests name it. */
  readonly model: string | undefined;
  readonly pathOf: (api: ChatApi) => Pick<LlmEndpoint, "path" | "isFixed">;
}

/** Returns the endpoint of a server of OpenAI's kind for a kind of client; `undefined` if it has no API for chats. */
export function chatEndpoint(type: ChatType, server: ChatServer): LlmEndpoint | undefined {
  const { api = "auto", apis, pathOf } = server;
  const at = (format: ChatApi): LlmEndpoint => ({ format, ...pathOf(format) });
  if (api !== "auto") return at(api);
  const own = CLIENT_APIS[type];
  const order = [own, "completions", "responses", "messages"] as const;
  const first = order.find((each) => each !== undefined && apis.includes(each));
  if (first === undefined) return undefined;
  const found = at(first);
  if (!server.isOwnServer || found.format !== "completions") return found;
  return withBranches(found, branchesOf(type, at("responses")), server.model);
}

/** Chooses a branch for a fixed model if that is certain. */
function withBranches(
  others: LlmEndpoint,
  branches: readonly LlmBranch[],
  model: string | undefined,
): LlmEndpoint {
  if (model === undefined) return { ...others, branches };
  const possible = branches.filter(({ models }) => new RegExp(models).test(model));
  const [first] = possible;
  if (first === undefined) return others;
  const { models: _, when, ...endpoint } = first;
  return when === undefined ? endpoint : { ...others, branches: possible };
}

/**
 * Returns the models whose requests need the Responses API at OpenAI. Clients of chat completions are served by their own
 * API where that is possible; for others, Responses keeps more of the reasoning.
 */
function branchesOf(type: ChatType, responses: LlmEndpoint): readonly LlmBranch[] {
  if (type === "Messages" || type === "GenerateContent" || type === "Converse") {
    const always = { ...responses, models: `${ONLY_RESPONSES}|${REASONING}` };
    // Chat completions have none of the tools that OpenAI runs. Converse cannot ask for one.
    return type === "Converse"
      ? [always]
      : [always, { ...responses, models: "", when: "usesHostedTools" }];
  }
  return [
    { ...responses, models: ONLY_RESPONSES },
    { ...responses, models: NO_SEARCHES, when: "usesHostedTools" },
    { ...responses, models: REFUSES_TOOLS, when: "reasonsWithTools" },
  ];
}

/** Models without chat completions. */
const ONLY_RESPONSES = "(?:^|-)(?:codex|pro|deep-research)(?:-|$)";
/** Models whose chat completions refuse a search of the web. */
const NO_SEARCHES = "^(?!.*-search(?:-|$))";
/** Models that reason. */
const REASONING = "^(?:o\\d|gpt-[5-9])";
/** Models whose chat completions refuse tools unless reasoning is turned off. */
const REFUSES_TOOLS = "^gpt-(?:5\\.[2-9]|[6-9])";
