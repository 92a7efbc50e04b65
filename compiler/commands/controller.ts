import { readFileSync } from "node:fs";
import path from "node:path";
import { Controller } from "../controller/controller.ts";
import { kubernetesAccess } from "../controller/kubernetes/access.ts";
import { ApiServer } from "../controller/kubernetes/api-server.ts";
import { fileProblem } from "../host.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc controller`: serves the Gateways of a Kubernetes API server until a signal ends it. */
export const controller: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "Follows GatewayClasses, Gateways, routes, policies and what they refer to, compiles each Gateway as `gwc build`\n" +
    "does, sends the code to its data planes (`gwc agent`), and writes what came of it into the status of every object.\n" +
    "In a pod it uses the pod's service account.",
  options: [
    {
      name: "kubeconfig",
      value: "FILE",
      summary: "how the API server is reached (default: the pod's own account, else KUBECONFIG)",
    },
    { name: "xds-port", value: "PORT", summary: "where data planes are served (default: 9978)" },
    {
      name: "xds-tls",
      value: "DIR",
      summary: "a folder with tls.crt and tls.key for them (default: no TLS)",
    },
  ],
  examples: ["gwc controller", "gwc controller --kubeconfig ~/.kube/config"],
  work: control,
};

async function control(
  { options }: Arguments,
  { host, print }: CommandContext,
): Promise<CommandResult> {
  const access = kubernetesAccess(host, options.kubeconfig);
  if ("problem" in access) {
    const hint = "hint: `gwc controller --help` says how the API server is found\n";
    return { exitCode: 1, stderr: `error: ${access.problem}\n${hint}` };
  }
  const tls = readPair(options["xds-tls"]);
  if (tls !== undefined && "problem" in tls)
    return { exitCode: 1, stderr: `error: ${options["xds-tls"]}: ${tls.problem}\n` };
  const api = new ApiServer(access);
  const log = (level: "info" | "warn", message: string) =>
    print(`${new Date().toISOString()} ${level} ${message}\n`);
  log("info", `following ${access.server.origin}`);
  const running = await Controller.open({
    api,
    log,
    namespace: access.namespace,
    discovery: { host: "::", port: Number(options["xds-port"] ?? 9978), tls },
  });
  log("info", `ready; data planes are served at port ${running.discoveryPort}`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  await running.stop();
  api.close();
  return { exitCode: 0 };
}

/** A certificate and its key as a Secret of type TLS is mounted; undefined: none is asked for. */
function readPair(
  folder: string | undefined,
): { readonly cert: string; readonly key: string } | { readonly problem: string } | undefined {
  if (folder === undefined) return undefined;
  const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
  try {
    return { cert: read("tls.crt"), key: read("tls.key") };
  } catch (error) {
    return { problem: fileProblem(error) };
  }
}
