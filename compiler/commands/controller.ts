import { Controller } from "../controller/controller.ts";
import { kubernetesAccess } from "../controller/kubernetes/access.ts";
import { ApiServer } from "../controller/kubernetes/api-server.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc controller`: serves the Gateways of a Kubernetes API server until a signal ends it. */
export const controller: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "Follows GatewayClasses, Gateways, routes, policies and what they refer to, compiles each Gateway as `gwc build` does,\n" +
    "and writes what came of it into the status of every object. In a pod it uses the pod's service account.",
  options: [
    {
      name: "kubeconfig",
      value: "FILE",
      summary: "how the API server is reached (default: the pod's own account, else KUBECONFIG)",
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
  const api = new ApiServer(access);
  const log = (level: "info" | "warn", message: string) =>
    print(`${new Date().toISOString()} ${level} ${message}\n`);
  log("info", `following ${access.server.origin}`);
  const running = await Controller.open({ api, log, namespace: access.namespace });
  log("info", "ready");
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  await running.stop();
  api.close();
  return { exitCode: 0 };
}
