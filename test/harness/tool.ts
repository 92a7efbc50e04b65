import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { itUnless, skip } from "./skip.ts";

/** Debian package of each program that tests start, or how else to install it. CI installs those of Debian. */
const packages = {
  actionlint: "actionlint (`go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12`)",
  bash: "bash",
  buildah: "buildah",
  "code-server": "code-server (`npm install -g code-server@4.139.1`)",
  curl: "curl",
  fish: "fish",
  git: "git",
  haproxy: "haproxy",
  h2load: "nghttp2-client",
  java: "default-jre-headless",
  jq: "jq",
  helm: "Helm (`go install helm.sh/helm/v3/cmd/helm@v3.19.0`)",
  kustomize: "Kustomize (`go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1`)",
  kubectl: "kubectl (`go install k8s.io/kubernetes/cmd/kubectl@v1.34.2`)",
  ldd: "libc-bin",
  mkfifo: "coreutils",
  mvn: "maven",
  nginx: "nginx-light",
  npm: "npm",
  npx: "npm",
  nvim: "neovim",
  openssl: "openssl",
  pebble: "Pebble (`go install github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.3`)",
  phoenix: "Phoenix (`pip install arize-phoenix`)",
  podman: "podman",
  promtool: "prometheus",
  ps: "procps",
  python3: "python3",
  "redis-server": "redis-server",
  runc: "runc",
  slowhttptest: "slowhttptest",
  sslscan: "sslscan",
  "systemd-analyze": "systemd",
  testssl: "testssl.sh",
  unshare: "util-linux",
  unzip: "unzip",
  "valkey-server": "valkey-server",
  wrk: "wrk",
  zsh: "zsh",
} as const;

/** A program of another project that tests talk to the gateway with. */
export type Tool = keyof typeof packages;

/** Defines a test that runs a tool. If the tool is missing, the test is skipped, and its name says why. */
export function itWith(tool: Tool, name: string, body: () => Promise<void>): void {
  itUnless(missingTool(tool))(name, body);
}

/**
 * Returns the name of a program to start, or skips the current test, naming the package to install, if the program is not
 * on the path. Without it, a machine that lacks the program fails tests that say nothing about gwc.
 *
 * @example execFileSync(program("openssl"), ["rand", "8"])
 */
export function program(tool: Tool): Tool {
  const missing = missingTool(tool);
  if (missing !== undefined) skip(missing);
  return tool;
}

function missingTool(tool: Tool): string | undefined {
  const name = packages[tool];
  return isInstalled(tool)
    ? undefined
    : `${name.includes(" ") ? name : `Debian's ${name}`} is not installed`;
}

/**
 * Returns the output of a tool. `input`: its standard input; empty if absent. Never use the synchronous form: the
 * upstreams run in this process.
 */
export async function runTool(
  tool: Tool,
  parameters: readonly string[],
  input = "",
): Promise<string> {
  const options = { maxBuffer: 64 * 1024 * 1024, encoding: "utf8" } as const;
  const running = promisify(execFile)(tool, parameters, options);
  running.child.stdin?.end(input);
  const { stdout, stderr } = await running;
  return `${stdout}${stderr}`;
}

/** Whether a program is on the path. */
export function isInstalled(tool: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
