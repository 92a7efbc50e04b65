import type { JsonBody } from "../../../json/json-body.ts";
import type { PromptMessage, PromptMessages } from "../prompt-messages.ts";

/** Adds messages to the prompts of generateContent, where system messages have a field of their own. */
export function generateContentPrompts({
  prepend = [],
  append = [],
}: PromptMessages): (body: JsonBody) => void {
  const system = [systemParts(prepend), systemParts(append)] as const;
  const turns = [contents(prepend), contents(append)] as const;
  return (body) => {
    if (system[0] !== "" || system[1] !== "") addSystem(body, system[0], system[1]);
    if (turns[0] !== "") body.prepend("contents", turns[0]);
    if (turns[1] !== "") body.append("contents", turns[1]);
  };
}

function addSystem(body: JsonBody, before: string, after: string): void {
  const own = JSON.parse(body.get("systemInstruction") ?? "{}");
  const parts = Array.isArray(own?.parts)
    ? own.parts.map((part: unknown) => JSON.stringify(part))
    : [];
  const all = [before, ...parts, after].filter((part) => part !== "");
  body.set("systemInstruction", `{"parts":[${all.join(",")}]}`);
}

function isSystem({ role }: PromptMessage): boolean {
  return role === "system" || role === "developer";
}

function systemParts(messages: readonly PromptMessage[]): string {
  const system = messages.filter(isSystem);
  return system.map(({ content: text }) => JSON.stringify({ text })).join(",");
}

function contents(messages: readonly PromptMessage[]): string {
  const turns = messages.filter((message) => !isSystem(message));
  return turns
    .map(({ role, content: text }) =>
      JSON.stringify({ role: role === "assistant" ? "model" : role, parts: [{ text }] }),
    )
    .join(",");
}
