import type { JsonBody } from "../../../json/json-body.ts";
import type { PromptMessage, PromptMessages } from "../prompt-messages.ts";

/** Adds messages to the prompts of the Messages API, where system messages have a field of their own. */
export function messagesPrompts({
  prepend = [],
  append = [],
}: PromptMessages): (body: JsonBody) => void {
  const system = [blocks(prepend), blocks(append)] as const;
  const turns = [texts(prepend), texts(append)] as const;
  return (body) => {
    if (system[0] !== "" || system[1] !== "") addSystem(body, system[0], system[1]);
    if (turns[0] !== "") body.prepend("messages", turns[0]);
    if (turns[1] !== "") body.append("messages", turns[1]);
  };
}

/** The field is a string, or a list of blocks. */
function addSystem(body: JsonBody, before: string, after: string): void {
  const system = body.get("system");
  if (system === undefined || system === "null") body.set("system", "[]");
  else if (system.startsWith('"')) body.set("system", `[{"type":"text","text":${system}}]`);
  if (before !== "") body.prepend("system", before);
  if (after !== "") body.append("system", after);
}

function isSystem({ role }: PromptMessage): boolean {
  return role === "system" || role === "developer";
}

function blocks(messages: readonly PromptMessage[]): string {
  const system = messages.filter(isSystem);
  return system.map(({ content: text }) => JSON.stringify({ type: "text", text })).join(",");
}

function texts(messages: readonly PromptMessage[]): string {
  const turns = messages.filter((message) => !isSystem(message));
  return turns.map((message) => JSON.stringify(message)).join(",");
}
