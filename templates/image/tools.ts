/** Commands of the base image (`node:24-slim`). */
const OF_BASE_IMAGE: ReadonlySet<string> = new Set([
  "node",
  "npm",
  "npx",
  "yarn",
  "corepack",
  "sh",
  "bash",
  "env",
  "timeout",
]);

const PYTHON: readonly string[] = [
  "RUN apt-get update \\",
  "  && apt-get install -y --no-install-recommends ca-certificates python-is-python3 python3-venv \\",
  "  && rm -rf /var/lib/apt/lists/*",
];
const UV: readonly string[] = ["COPY --from=ghcr.io/astral-sh/uv:0.13.9 /uv /uvx /usr/local/bin/"];

/** Instructions that install commands that the base image lacks, in the order of the Dockerfile. */
const INSTALLED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  python: [PYTHON],
  python3: [PYTHON],
  uv: [PYTHON, UV],
  uvx: [PYTHON, UV],
};

/** Returns whether the generated image has a command. */
export function isInImage(command: string): boolean {
  return OF_BASE_IMAGE.has(command) || Object.hasOwn(INSTALLED, command);
}

/** Returns the instructions that install commands; none for those of the base image and for unknown ones. */
export function toolInstructions(commands: readonly string[]): readonly string[] {
  const needed = new Set(commands.flatMap((command) => INSTALLED[command] ?? []));
  return [PYTHON, UV].filter((instructions) => needed.has(instructions)).flat();
}
