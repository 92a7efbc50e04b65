import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { atEnd } from "./at-end.ts";
import { nodeRoot } from "./node-root.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";
import { program, type Tool } from "./tool.ts";

/** Options of `podman run` for a container as restricted as the guide recommends. */
const RESTRICTED: readonly string[] = [
  ...["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"],
  ...["--security-opt", "no-new-privileges"],
  // The defaults need rights that a container of the tests may lack.
  ...["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"],
  // Only systemd repeats health checks; tests run them.
  ...["--health-interval", "disable", "--network", "host"],
];

/** Options of Podman that work without systemd. */
const WITHOUT_SYSTEMD = ["--runtime", "runc", "--cgroup-manager", "cgroupfs"];

/** Builds and runs images without a daemon: Buildah, Podman and runc with a store of their own. Needs root. */
export class ContainerEngine {
  readonly #store: readonly string[];

  constructor() {
    const folder = temporaryFolder();
    const [root, state] = [path.join(folder, "store"), path.join(folder, "run")];
    this.#store = ["--root", root, "--runroot", state, "--storage-driver", "vfs"];
  }

  /** Builds a base image with Node.js alone, as the distroless ones are, and returns its name. */
  async buildBase(): Promise<string> {
    const root = nodeRoot();
    writeFileSync(path.join(root, "Dockerfile"), "FROM scratch\nCOPY . /\n");
    return this.build("localhost/base", root);
  }

  /** Builds a folder with a Dockerfile, and returns the name of the image. */
  async build(name: string, folder: string, ...options: readonly string[]): Promise<string> {
    const isolated = ["--isolation", "chroot", "--format", "docker"];
    await this.#run("buildah", "build", ...isolated, ...options, "--tag", name, folder);
    return name;
  }

  /** Starts a container, whose end ends the process with its exit code. */
  start(name: string, image: string, ...args: readonly string[]): TestProcess {
    const container = new TestProcess(program("podman"), [
      ...[...this.#store, ...WITHOUT_SYSTEMD, "run", "--rm", "--name", name],
      ...[...RESTRICTED, image, ...args],
    ]);
    // The container would outlive the killed process.
    atEnd(() => this.podman("rm", "--force", "--ignore", "--time", "0", name));
    return container;
  }

  /** Runs a command of Podman and returns what it prints. Rejects if the command fails. */
  podman(...command: readonly string[]): Promise<string> {
    return this.#run("podman", ...WITHOUT_SYSTEMD, ...command);
  }

  async #run(tool: Tool, ...command: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(program(tool), [...this.#store, ...command]);
    return stdout.trim();
  }
}
