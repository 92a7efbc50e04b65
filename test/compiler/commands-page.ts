import { commands } from "../../compiler/commands/commands.ts";
import { perform } from "../../compiler/commands/perform.ts";
import { memoryHost } from "../../compiler/host.ts";

const WIDTH = 80;

/** Returns the page of all commands: what `gwc --help` and `gwc COMMAND --help` print in a terminal of 80 columns. */
export async function commandsPage(): Promise<string> {
  const sections = await Promise.all(
    commands.map(async ({ name }) => `## gwc ${name}\n\n${block(await help([name, "--help"]))}`),
  );
  const links = commands.map(({ name }) => `[${name}](#gwc-${name})`).join(", ");
  return ["# Commands", links, block(await help(["--help"])), ...sections, ""].join("\n\n");
}

async function help(argv: readonly string[]): Promise<string> {
  const { stdout = "" } = await perform(argv, {
    host: memoryHost({}),
    isColored: { stdout: false, stderr: false },
    isTerminal: { stdout: false, stderr: false },
    columns: WIDTH,
    progress: () => {},
    print: () => {},
  });
  return stdout;
}

function block(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}
