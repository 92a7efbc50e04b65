import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { PodPower, PodSocket } from "../../../ir/deployment.ts";
import type { WorkloadApiNode } from "../../../ir/workload-api.ts";
import type { ParametersSpec } from "./parameters.ts";
import { lastOf } from "./process.ts";

/** Folder of the socket in the container, its name, and the CSI driver that mounts it. */
const MOUNT_PATH = "/spiffe-workload-api";
const SOCKET_NAME = "spire-agent.sock";
const DRIVER = "csi.spiffe.io";

/**
 * Returns the Workload API of a Gateway's pods: from its own parameters, or else its class's, whose raw configuration has it
 * as well; `undefined` if there is none.
 */
export function gatewayWorkloadApi(
  parameters: readonly ParametersSpec[],
): WorkloadApiNode | undefined {
  const of = typed(parameters);
  if (of?.spiffe === undefined) return lastOf(parameters, rawWorkloadApi);
  const { enabled = true, source } = of.spiffe;
  if (!enabled) return undefined;
  const { mountPath = MOUNT_PATH, socketName = SOCKET_NAME } = source ?? {};
  return {
    endpoint: `unix://${mountPath.replace(/\/+$/, "")}/${socketName}`,
    origin: childOf(of.origin, "spec", "spiffe"),
  };
}

/** Returns the socket of the Workload API that pods need; `undefined` if there is none. */
export function workloadApiSocket(parameters: readonly ParametersSpec[]): PodSocket | undefined {
  const { spiffe } = typed(parameters) ?? {};
  if (spiffe === undefined || spiffe.enabled === false) return undefined;
  const { csi, hostPath, mountPath = MOUNT_PATH } = spiffe.source ?? {};
  return {
    mountPath,
    source:
      hostPath === undefined
        ? { kind: "csi", driver: csi?.driver ?? DRIVER }
        : { kind: "hostPath", path: hostPath.path },
  };
}

/** Returns the permission to read a folder of the node, if the socket is mounted from there. */
export function workloadApiPowers(parameters: readonly ParametersSpec[]): readonly PodPower[] {
  const of = typed(parameters);
  if (of?.spiffe?.enabled === false || of?.spiffe?.source?.hostPath === undefined) return [];
  const origin = childOf(of.origin, "spec", "spiffe", "source", "hostPath");
  return [{ what: "files of its node (hostPath)", origin }];
}

function typed(parameters: readonly ParametersSpec[]): ParametersSpec | undefined {
  return parameters.findLast(({ spiffe }) => spiffe !== undefined);
}

function rawWorkloadApi({ rawConfig, origin }: ParametersSpec): WorkloadApiNode | undefined {
  const { endpoint } = rawConfig?.config?.spiffe ?? {};
  if (endpoint === undefined) return undefined;
  return { endpoint, origin: childOf(origin, "spec", "rawConfig", "config", "spiffe") };
}
