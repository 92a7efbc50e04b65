import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { linkInto, nodeRoot } from "./node-root.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

/** Sends a signal to the first process of the container, as `docker stop` does. */
export function signalFirst({ pid }: TestProcess, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  for (const child of children) process.kill(Number(child), signal);
}

/** Why images cannot be run; `undefined` if they can. */
export function missingImages(): string | undefined {
  const [command = "", ...options] = ["unshare", "--mount", "--pid", "--fork", "--root=/", "true"];
  const { status } = spawnSync(command, options);
  return status === 0 ? undefined : "running an image needs root and `unshare`";
}

/** The instructions of a Dockerfile that configure its processes. */
interface ImageConfig {
  readonly workdir: string;
  readonly copied: readonly string[];
  readonly user: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly healthCheck: readonly string[];
}

/**
 * The image of a generated Dockerfile, without a container engine: a folder like the base image becomes the read-only
 * root of processes, whose first one is the entry point.
 */
export class ImageRoot {
  readonly #root = nodeRoot();
  readonly #config: ImageConfig;

  /** `build`: the output folder of `gwc build`. */
  constructor(build: string) {
    this.#config = configOf(readFileSync(path.join(build, "Dockerfile"), "utf8"));
    for (const name of this.#config.copied)
      linkInto(this.#root, path.join(build, name), path.join(this.#config.workdir, name));
  }

  /** The working directory of the image, as this process sees it. */
  get workdir(): string {
    return path.join(this.#root, this.#config.workdir);
  }

  /** Starts the entry point with these arguments as the first process of the container. */
  start(...args: readonly string[]): TestProcess {
    return new TestProcess(
      program("unshare"),
      this.#isolated([...this.#config.entrypoint, ...args]),
    );
  }

  /** Returns the exit code of the health check. */
  health(): number | null {
    return spawnSync(program("unshare"), this.#isolated(this.#config.healthCheck)).status;
  }

  #isolated(command: readonly string[]): readonly string[] {
    const root = this.#root;
    const [uid, gid] = this.#config.user.split(":");
    const script = `
      mount --bind ${root} ${root} && mount -t proc proc ${root}/proc && mount --rbind /dev ${root}/dev &&
      mount -t tmpfs -o mode=1777 tmpfs ${root}/tmp && mount -o remount,bind,ro ${root} && exec "$@"`;
    const namespaces = ["--mount", "--pid", "--fork", "--kill-child"];
    const inside = ["unshare", `--root=${root}`, `--wd=${this.#config.workdir}`];
    const user = [`--setuid=${uid}`, `--setgid=${gid}`];
    const variables = Object.entries(this.#config.variables).map(
      ([name, value]) => `${name}=${value}`,
    );
    const started = ["env", "-i", ...variables, ...inside, ...user, ...command];
    return [...namespaces, "/bin/sh", "-c", script, "sh", ...started];
  }
}

function configOf(dockerfile: string): ImageConfig {
  const value = (pattern: RegExp) => pattern.exec(dockerfile)?.[1] ?? "";
  const variables = value(/^ENV (.*)$/m).split(" ");
  return {
    workdir: value(/^WORKDIR (.*)$/m),
    copied: value(/^COPY (.*) \.\/$/m).split(" "),
    user: value(/^USER (.*)$/m),
    variables: Object.fromEntries(variables.map((each) => each.split("="))),
    // Lists of strings by the syntax of Dockerfiles.
    entrypoint: JSON.parse(value(/^ENTRYPOINT (\[.*\])$/m)) as string[],
    healthCheck: JSON.parse(value(/^HEALTHCHECK .*CMD (\[.*\])$/m)) as string[],
  };
}
