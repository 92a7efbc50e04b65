import type { ContentBlock } from "../chat/content.ts";
import type { ChatRequest, ToolChoice, Turn } from "../chat/request.ts";
import { isShortName, shortName } from "../formats/short-name.ts";

/** The request with names of tools that the provider takes: those that do not match `accepted` get short ones. */
export function withToolNames(request: ChatRequest, accepted: RegExp): ChatRequest {
  const rename = (name: string): string =>
    name === "" || accepted.test(name) ? name : shortName(name);
  if (request.tools.every(({ name }) => rename(name) === name)) return request;
  const { tools, toolChoice, turns } = request;
  return {
    ...request,
    tools: tools.map((tool) => ({ ...tool, name: rename(tool.name) })),
    toolChoice: toolChoice && renamedChoice(toolChoice, rename),
    turns: turns.map((turn) => renamedTurn(turn, rename)),
  };
}

function renamedChoice(choice: ToolChoice, rename: (name: string) => string): ToolChoice {
  return choice.kind === "tool" ? { ...choice, name: rename(choice.name) } : choice;
}

function renamedTurn({ role, blocks }: Turn, rename: (name: string) => string): Turn {
  const renamed = (block: ContentBlock): ContentBlock =>
    block.kind === "tool-call" ? { ...block, name: rename(block.name) } : block;
  return { role, blocks: blocks.map(renamed) };
}

/** The client's names of tools that a provider calls. */
export class ClientToolNames {
  readonly #tools: () => ChatRequest["tools"];

  /** `tools`: those of the client's request; asked for when a short name comes. */
  constructor(tools: () => ChatRequest["tools"]) {
    this.#tools = tools;
  }

  /** The name that the client gave. */
  of(name: string): string {
    if (!isShortName(name)) return name;
    return this.#tools().find((tool) => shortName(tool.name) === name)?.name ?? name;
  }
}
