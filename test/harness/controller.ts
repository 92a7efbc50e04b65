import { GwcProcess } from "./gwc.ts";
import type { KubernetesApi } from "./kubernetes-api.ts";

/** `gwc controller` on free ports; it is gone at the end of the test. */
export function startController(
  api: Pick<KubernetesApi, "kubeconfig">,
  ...options: string[]
): GwcProcess {
  return startControllerWith({}, api, ...options);
}

/** The same with variables of its own. */
export function startControllerWith(
  env: Readonly<Record<string, string>>,
  { kubeconfig }: Pick<KubernetesApi, "kubeconfig">,
  ...options: string[]
): GwcProcess {
  const ports = ["xds-port", "health-port", "metrics-port"]
    .map((name) => `--${name}`)
    .filter((name) => !options.includes(name));
  const free = ports.flatMap((name) => [name, "0"]);
  return new GwcProcess(["controller", "--kubeconfig", kubeconfig, ...free, ...options], { env });
}
