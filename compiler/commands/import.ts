import { presentForm, withPresentFields } from "../import/agentgateway/present-form.ts";
import { formatOf, IMPORT_FORMATS, type ImportFile, importers } from "../import/formats.ts";
import { importedText } from "../import/imported-text.ts";
import { type AcceptedFile, acceptedFile } from "../import/remove-unsupported.ts";
import { SourceFields } from "../import/source-fields.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { fileOption } from "./shared-options.ts";

/** `gwc import`: converts another gateway's configuration. */
export const importCommand: Command = {
  minPositionals: 1,
  maxPositionals: 16,
  details:
    "Prints a gateway.yaml that `gwc check` accepts. Parts without a counterpart become comments with their line in FILE; " +
    "lines that need a decision have a DECIDE comment above them. Routes whose access rules or matches could not be converted " +
    "answer 503 until you decide. Credentials in FILE become variables. `gwc explain import` lists the formats.\n" +
    "Exit code: 0 all converted, 1 parts were skipped (the file is still printed), 2 not convertible.",
  options: [
    fileOption,
    {
      name: "from",
      value: "FORMAT",
      choices: IMPORT_FORMATS,
      summary: "source format (default: detected)",
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
    if (read.kind === "problem") return refused(file, `cannot be read: ${read.problem}`);
    files.push({ file, text: read.text });
  }
  const [{ file, text } = { file: "", text: "" }] = files;
  const from = oneOf(IMPORT_FORMATS, options.from, formatOf(files));
  const read = from === "agentgateway" ? asItIs(text) : importers[from](files, host);
  if (typeof read === "string") return refused(file, read);
  const written =
    read === undefined ? withPresentFields(text).text : importedText(positionals.join(", "), read);
  const isYaml = /\.(ya?ml|json)$/i.test(file) || file === "-";
  const checked = acceptedFile(isYaml ? file : `${file}.yaml`, written, host);
  if (typeof checked === "string") return refused(file, `cannot be imported: ${checked}`);
  const count = (read?.left.length ?? 0) + checked.refused.length;
  const stdout = withRefused(from === "agentgateway" ? presented(checked) : checked);
  if (count === 0) return { exitCode: 0, stdout };
  return {
    exitCode: 1,
    stdout,
    stderr: `note: skipped ${count} ${count === 1 ? "part" : "parts"} of ${positionals.join(", ")}: read the comments before you serve the result\n`,
  };
}

/** Returns an accepted file of agentgateway in its present form. */
function presented({ text, refused: removed, closed }: AcceptedFile): AcceptedFile {
  const form = presentForm(text);
  const moved = closed.map((route) => form.moved.get(route) ?? route);
  return { text: form.text, refused: removed, closed: moved };
}

/** Returns the problem of a file that needs no conversion but must be YAML. */
function asItIs(text: string): string | undefined {
  const { problem } = new SourceFields(text);
  return problem === undefined ? undefined : `is not YAML: ${problem}`;
}

function refused(file: string, problem: string): CommandResult {
  return { exitCode: 2, stderr: `error: "${file}" ${problem}\n` };
}

/** Adds comments at the top of a file that list what was removed or closed. */
function withRefused({ text, refused, closed }: AcceptedFile): string {
  const lines = [
    ...refused.map((each) => `removed, ${each}`),
    ...closed.map(
      (route) =>
        `${route} answers 503 because its access rules are incomplete: decide, then remove its directResponse`,
    ),
  ].map((each) => `# DECIDE: ${each.replace(/[\p{Cc}\u2028\u2029]+/gu, " ")}\n`);
  return `${lines.join("")}${text}`;
}
