import { GwcProcess } from "./gwc.ts";
import type { KubernetesApi } from "./kubernetes-api.ts";

/** How the API server is reached: with the chart's roles, unless somebody says otherwise. */
type Access = Pick<KubernetesApi, "kubeconfig"> &
  Partial<Pick<KubernetesApi, "controllerKubeconfig">>;

/** `gwc controller` on free ports; it is gone at the end of the test. */
export function startController(api: Access, ...options: string[]): GwcProcess {
  return startControllerWith({}, api, ...options);
}

/** The same with variables of its own. */
export function startControllerWith(
  env: Readonly<Record<string, string>>,
  { kubeconfig, controllerKubeconfig = kubeconfig }: Access,
  ...options: string[]
): GwcProcess {
  const ports = ["xds-port", "health-port", "metrics-port"]
    .map((name) => `--${name}`)
    .filter((name) => !options.includes(name));
  const free = ports.flatMap((name) => [name, "0"]);
  return new GwcProcess(["controller", "--kubeconfig", controllerKubeconfig, ...free, ...options], {
    env,
  });
}
