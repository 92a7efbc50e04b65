import type { DeploymentNode } from "../../compiler/ir/deployment.ts";
import type { Json } from "../../compiler/model/json.ts";
import type { AgentPodSettings } from "./settings.ts";

/** Where an agent has its token and the authority of its controller, and keeps what it got. */
const TOKEN_DIR = "/var/run/secrets/xds-tokens";
const AUTHORITY_DIR = "/etc/gwc/xds-ca";
const AGENT_DIR = "/var/lib/gwc/agent";
/** Seconds that a token is good for; the kubelet renews it before. */
const TOKEN_TIME = 43_200;

/** What tells an agent whose data plane it is, and of which controller. */
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

/** The volumes of an agent's pod. */
export function agentVolumes(
  { name }: DeploymentNode,
  { audience, authority }: AgentPodSettings,
): readonly Json[] {
  const token = { audience, expirationSeconds: TOKEN_TIME, path: "xds-token" };
  return [
    // Secrets are in it: it is memory.
    { name: "agent", emptyDir: { medium: "Memory" } },
    { name: "xds-token", projected: { sources: [{ serviceAccountToken: token }] } },
    ...(authority === undefined ? [] : [{ name: "xds-ca", configMap: { name: `${name}-xds-ca` } }]),
  ];
}

/** Where they stand in its container. */
export function agentMounts({ authority }: AgentPodSettings): readonly Json[] {
  return [
    { name: "agent", mountPath: AGENT_DIR },
    { name: "xds-token", mountPath: TOKEN_DIR, readOnly: true },
    ...(authority === undefined
      ? []
      : [{ name: "xds-ca", mountPath: AUTHORITY_DIR, readOnly: true }]),
  ];
}
