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

/** Parts of a Dockerfile that install a command. */
interface Installation {
  /** Lines in front of the base image: arguments, and images to copy from. */
  readonly stages: readonly string[];
  readonly instructions: readonly string[];
}

const PYTHON: Installation = {
  stages: [],
  instructions: [
    "USER 0",
    "RUN apt-get update \\",
    "  && apt-get install -y --no-install-recommends ca-certificates python-is-python3 python3-venv \\",
    "  && rm -rf /var/lib/apt/lists/*",
  ],
};
const UV: Installation = {
  stages: ["ARG UV=ghcr.io/astral-sh/uv:0.13.9", "FROM ${UV} AS uv"],
  instructions: ["COPY --from=uv /uv /uvx /usr/local/bin/"],
};

/** Installations of the commands that the base image lacks, in the order of the Dockerfile. */
const INSTALLED: Readonly<Record<string, readonly Installation[]>> = {
  python: [PYTHON],
  python3: [PYTHON],
  uv: [PYTHON, UV],
  uvx: [PYTHON, UV],
};

/** Returns whether the generated image has a command. */
export function isInImage(command: string): boolean {
  return OF_BASE_IMAGE.has(command) || Object.hasOwn(INSTALLED, command);
}

/** Returns the lines that install commands; none for those of the base image and for unknown ones. */
export function tools(commands: readonly string[]): Installation {
  const needed = new Set(commands.flatMap((command) => INSTALLED[command] ?? []));
  const installations = [PYTHON, UV].filter((each) => needed.has(each));
  return {
    stages: installations.flatMap(({ stages }) => stages),
    instructions: installations.flatMap(({ instructions }) => instructions),
  };
}
