import type { JsonBody } from "../../../json/json-body.ts";
import type { PromptMessage, PromptMessages } from "../prompt-messages.ts";

/** Adds messages to the prompts of chat completions. */
export function completionsPrompts({
  prepend = [],
  append = [],
}: PromptMessages): (body: JsonBody) => void {
  const [before, after] = [texts(prepend), texts(append)];
  return (body) => {
    if (before !== "") body.prepend("messages", before);
    if (after !== "") body.append("messages", after);
  };
}

function texts(messages: readonly PromptMessage[]): string {
  return messages.map((message) => JSON.stringify(message)).join(",");
}
