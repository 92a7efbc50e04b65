import { formatOf, IMPORT_FORMATS, type ImportFile, importers } from "../import/formats.ts";
import { importedText } from "../import/imported-text.ts";
import { type AcceptedFile, acceptedFile } from "../import/remove-unsupported.ts";
import { SourceFields } from "../import/source-fields.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc import`: another gateway's configuration as one of gwc's. */
export const importCommand: Command = {
  minPositionals: 1,
  maxPositionals: 16,
  details:
    "Prints a gateway.yaml that `gwc check` accepts. What has no counterpart is a comment with its line in FILE, and lines\n" +
    "that want a decision have one above them that begins with DECIDE: nothing is left out without a word. A route that\n" +
    "would lose who may, or which requests are its, answers 503 until somebody has decided. Keys that stand in FILE as text\n" +
    "become variables. `gwc explain import` has the formats.\n" +
    "Exit code: 0 all of it, 1 parts were left out (the file is printed all the same), 2 nothing can be made of it.",
  options: [
    {
      name: "from",
      value: "FORMAT",
      choices: IMPORT_FORMATS,
      summary: "whose configuration it is (default: by what is in it)",
    },
  ],
  examples: [
    "gwc import config.yaml --from litellm > gateway.yaml",
    "gwc import /etc/nginx/nginx.conf > gateway.yaml",
    "gwc import traefik.yaml dynamic.yaml > gateway.yaml",
  ],
  work: importFile,
};

async function importFile(
  { positionals, options }: Arguments,
  { host }: CommandContext,
): Promise<CommandResult> {
  const files: ImportFile[] = [];
  for (const file of positionals) {
    const read = host.readText(file);
    if (read.kind === "problem") return refused(file, `can't be read: ${read.problem}`);
    files.push({ file, text: read.text });
  }
  const [{ file, text } = { file: "", text: "" }] = files;
  const from = oneOf(IMPORT_FORMATS, options.from, formatOf(files));
  const read = from === "agentgateway" ? asItIs(text) : importers[from](files, host);
  if (typeof read === "string") return refused(file, read);
  const written =
    read === undefined ? text : importedText(positionals.join(", "), read.draft, read.left);
  const isYaml = /\.(ya?ml|json)$/i.test(file) || file === "-";
  const checked = acceptedFile(isYaml ? file : `${file}.yaml`, written, host);
  if (typeof checked === "string") return refused(file, `can't be imported: ${checked}`);
  const count = (read?.left.length ?? 0) + checked.refused.length;
  const stdout = withRefused(checked);
  if (count === 0) return { exitCode: 0, stdout };
  return {
    exitCode: 1,
    stdout,
    stderr: `note: ${count} ${count === 1 ? "part" : "parts"} of ${positionals.join(", ")} left out: read the comments before it serves anybody\n`,
  };
}

/** What gwc reads as it is, if it is YAML at all. */
function asItIs(text: string): string | undefined {
  const { problem } = new SourceFields(text);
  return problem === undefined ? undefined : `is no YAML: ${problem}`;
}

function refused(file: string, problem: string): CommandResult {
  return { exitCode: 2, stderr: `error: "${file}" ${problem}\n` };
}

/** Says at the head of a file what is not in it any more. */
function withRefused({ text, refused, closed }: AcceptedFile): string {
  const lines = [
    ...refused.map((each) => `taken out, ${each}`),
    ...closed.map(
      (route) =>
        `${route} answers 503, as it may be for fewer: decide, then take its directResponse out`,
    ),
  ].map((each) => `# DECIDE: ${each.replace(/[\p{Cc}\u2028\u2029]+/gu, " ")}\n`);
  return `${lines.join("")}${text}`;
}
