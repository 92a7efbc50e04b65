import { definePolicy } from "gwc/policy";

/** Hides card numbers in the results of tools, in texts and in structured content. */
export default definePolicy({
  options: { replacement: { type: "string", default: "[card]" } },
  toolResult({ result }, { replacement }) {
    const { content, structuredContent } = result;
    return {
      ...result,
      content: redacted(content, replacement),
      structuredContent: redacted(structuredContent, replacement),
    };
  },
});

function redacted(value: unknown, replacement: string): unknown {
  if (typeof value === "string") return value.replaceAll(/\b(?:\d[ -]?){12,15}\d\b/g, replacement);
  if (Array.isArray(value)) return value.map((each) => redacted(each, replacement));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, each]) => [name, redacted(each, replacement)]));
}
