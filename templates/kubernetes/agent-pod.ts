import type { DeploymentNode } from "../../compiler/ir/deployment.ts";
import type { Json } from "../../compiler/model/json.ts";
import type { AgentPodSettings } from "./settings.ts";

/** Folders with an agent's token, its controller's CA certificates, and its received files. */
const TOKEN_DIR = "/var/run/secrets/xds-tokens";
const AUTHORITY_DIR = "/etc/gwc/xds-ca";
const AGENT_DIR = "/var/lib/gwc/agent";
/** Lifetime of a token in seconds; the kubelet renews it earlier. */
const TOKEN_TIME = 43_200;

/** Returns the environment variables that name the controller and the data plane of an agent. */
export function agentVariables({
  address,
  gateway,
  authority,
  signer,
}: AgentPodSettings): readonly Json[] {
  return [
    { name: "XDS_ADDRESS", value: address },
    { name: "GATEWAY", value: gateway },
    { name: "GWC_SIGNER", value: signer },
    { name: "GWC_AGENT_DIR", value: AGENT_DIR },
    ...(authority === undefined ? [] : [{ name: "XDS_ROOT_CA", value: `${AUTHORITY_DIR}/ca.crt` }]),
  ];
}

/** Returns the volumes of an agent's pod. */
export function agentVolumes(
  { name }: DeploymentNode,
  { audience, authority }: AgentPodSettings,
): readonly Json[] {
  const token = { audience, expirationSeconds: TOKEN_TIME, path: "xds-token" };
  return [
    // In memory, because it contains Secrets.
    { name: "agent", emptyDir: { medium: "Memory" } },
    { name: "xds-token", projected: { sources: [{ serviceAccountToken: token }] } },
    ...(authority === undefined ? [] : [{ name: "xds-ca", configMap: { name: `${name}-xds-ca` } }]),
  ];
}

/** Returns the mounts of these volumes. */
export function agentMounts({ authority }: AgentPodSettings): readonly Json[] {
  return [
    { name: "agent", mountPath: AGENT_DIR },
    { name: "xds-token", mountPath: TOKEN_DIR, readOnly: true },
    ...(authority === undefined
      ? []
      : [{ name: "xds-ca", mountPath: AUTHORITY_DIR, readOnly: true }]),
  ];
}
