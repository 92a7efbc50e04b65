import type { JsonBody } from "../../../json/json-body.ts";
import type { PromptMessage, PromptMessages } from "../prompt-messages.ts";

/** Adds messages to the prompts of the Responses API. System messages are added to the instructions. */
export function responsesPrompts({
  prepend = [],
  append = [],
}: PromptMessages): (body: JsonBody) => void {
  const system = [instructions(prepend), instructions(append)] as const;
  const items = [texts(prepend), texts(append)] as const;
  return (body) => {
    addInstructions(body, ...system);
    if (items[0] === "" && items[1] === "") return;
    listInput(body);
    if (items[0] !== "") body.prepend("input", items[0]);
    if (items[1] !== "") body.append("input", items[1]);
  };
}

function addInstructions(
  body: JsonBody,
  before: readonly string[],
  after: readonly string[],
): void {
  if (before.length === 0 && after.length === 0) return;
  const own: unknown = JSON.parse(body.get("instructions") ?? "null");
  // Other values are not changed: the provider reports the mistake.
  if (own !== null && typeof own !== "string") return;
  const all = [...before, ...(own === null ? [] : [own]), ...after];
  body.set("instructions", JSON.stringify(all.join("\n\n")));
}

/** Converts an input that is a string to a list of items. */
function listInput(body: JsonBody): void {
  const input = body.get("input");
  if (input === undefined || input === "null") body.set("input", "[]");
  else if (input.startsWith('"')) body.set("input", `[{"role":"user","content":${input}}]`);
}

function isSystem({ role }: PromptMessage): boolean {
  return role === "system" || role === "developer";
}

function instructions(messages: readonly PromptMessage[]): readonly string[] {
  return messages.filter(isSystem).map(({ content }) => content);
}

function texts(messages: readonly PromptMessage[]): string {
  const turns = messages.filter((message) => !isSystem(message));
  return turns.map((message) => JSON.stringify(message)).join(",");
}
