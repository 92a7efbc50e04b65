import type { Host } from "../host.ts";
import { importedText } from "../inspect/import/imported-text.ts";
import { importLiteLlm } from "../inspect/import/litellm.ts";
import { type SettledFile, settled } from "../inspect/import/settle.ts";
import { SourceFields } from "../inspect/import/source-fields.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

const FORMATS = ["agentgateway", "litellm"] as const;

/** `gwc import`: another gateway's configuration as one of gwc's. */
export const importCommand: Command = {
  minPositionals: 1,
  maxPositionals: 1,
  details:
    "Prints a gateway.yaml that `gwc check` accepts. What has no counterpart is a comment with its line in FILE, and lines\n" +
    "that want a decision have one above them that begins with DECIDE: nothing is left out without a word. Keys that stand\n" +
    "in FILE as text become variables. Formats: agentgateway (its local file: gwc reads most of it as it is), litellm\n" +
    "(config.yaml of its proxy).\n" +
    "Exit code: 0 all of it, 1 parts were left out (the file is printed all the same), 2 nothing can be made of it.",
  options: [
    {
      name: "from",
      value: "FORMAT",
      choices: FORMATS,
      summary: "whose configuration it is (default: by what is in it)",
    },
  ],
  examples: [
    "gwc import config.yaml --from litellm > gateway.yaml",
    "gwc import agentgateway.yaml > gateway.yaml",
  ],
  work: importFile,
};

async function importFile(
  { positionals: [file = ""], options }: Arguments,
  { host }: CommandContext,
): Promise<CommandResult> {
  const read = host.readText(file);
  if (read.kind === "problem")
    return { exitCode: 2, stderr: `error: "${file}" can't be read: ${read.problem}\n` };
  const source = new SourceFields(read.text);
  if (source.problem !== undefined)
    return { exitCode: 2, stderr: `error: "${file}" is no YAML: ${source.problem}\n` };
  const from = oneOf(FORMATS, options.from, formatOf(source.value));
  const made =
    from === "litellm" ? fromLiteLlm(file, source, host) : fromAgentgateway(file, read.text, host);
  if (typeof made === "string") return { exitCode: 2, stderr: `error: "${file}" ${made}\n` };
  const { text, count } = made;
  if (count === 0) return { exitCode: 0, stdout: text };
  return {
    exitCode: 1,
    stdout: text,
    stderr: `note: ${count} ${count === 1 ? "part" : "parts"} of ${file} left out: read the comments before it serves anybody\n`,
  };
}

function formatOf(value: unknown): (typeof FORMATS)[number] {
  return typeof value === "object" && value !== null && "model_list" in value
    ? "litellm"
    : "agentgateway";
}

/** The new file, and how many parts of the old one are not in it. */
interface Imported {
  readonly text: string;
  readonly count: number;
}

function fromLiteLlm(file: string, source: SourceFields, host: Host): Imported | string {
  const draft = importLiteLlm(source);
  if (typeof draft === "string") return draft;
  const left = source.left();
  const checked = settled(file, importedText(file, draft, left), host);
  if (typeof checked === "string") return `can't be imported: ${checked}`;
  return { text: withRefused(checked), count: left.length + checked.refused.length };
}

function fromAgentgateway(file: string, text: string, host: Host): Imported | string {
  const checked = settled(file, text, host);
  if (typeof checked === "string") return `can't be imported: ${checked}`;
  return { text: withRefused(checked), count: checked.refused.length };
}

/** Says at the head of a file what is not in it any more. */
function withRefused({ text, refused, closed }: SettledFile): string {
  const lines = [
    ...refused.map((each) => `taken out, ${each}`),
    ...closed.map(
      (route) =>
        `${route} answers 503, as it may be for fewer: decide, then take its directResponse out`,
    ),
  ].map((each) => `# DECIDE: ${each.replace(/[\p{Cc}\u2028\u2029]+/gu, " ")}\n`);
  return `${lines.join("")}${text}`;
}
