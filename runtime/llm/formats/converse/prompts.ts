import type { JsonBody } from "../../../json/json-body.ts";
import type { PromptMessage, PromptMessages } from "../prompt-messages.ts";

/** Adds messages to the prompts of Converse, where system messages have a field of their own. */
export function conversePrompts({
  prepend = [],
  append = [],
}: PromptMessages): (body: JsonBody) => void {
  const system = [systemTexts(prepend), systemTexts(append)] as const;
  const turns = [messages(prepend), messages(append)] as const;
  return (body) => {
    if (system[0] !== "" || system[1] !== "") {
      body.setDefault("system", "[]");
      if (system[0] !== "") body.prepend("system", system[0]);
      if (system[1] !== "") body.append("system", system[1]);
    }
    if (turns[0] !== "") body.prepend("messages", turns[0]);
    if (turns[1] !== "") body.append("messages", turns[1]);
  };
}

function isSystem({ role }: PromptMessage): boolean {
  return role === "system" || role === "developer";
}

function systemTexts(given: readonly PromptMessage[]): string {
  const system = given.filter(isSystem);
  return system.map(({ content: text }) => JSON.stringify({ text })).join(",");
}

function messages(given: readonly PromptMessage[]): string {
  const turns = given.filter((message) => !isSystem(message));
  return turns
    .map(({ role, content: text }) => JSON.stringify({ role, content: [{ text }] }))
    .join(",");
}
