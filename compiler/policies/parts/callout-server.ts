import {
  type CalloutTarget,
  calloutTarget,
  grpcTarget,
} from "../../backends/parts/callout-target.ts";
import { type DestinationConfig, resolveDestination } from "../../backends/parts/destination.ts";
import {
  type BackendPoliciesValue,
  backendPolicySchemas,
} from "../../backends/parts/policies-schema.ts";
import { readBackendPolicies } from "../../backends/parts/read-policies.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendReferenceValue } from "../../manifests/field-types.ts";
import type { Text } from "../../model/texts.ts";
import { object, pick, shortText, text, unsupported } from "../../schema/schema.ts";
import type { KubernetesContext, ResolveContext } from "../policy.ts";

/** The fields of a file that name the server of a policy; exactly one of `serverKeys` is there. */
export const serverFields = {
  host: text("`host:port` or a URL of the server.", {
    readAtStart: true,
    examples: ["127.0.0.1:8080"],
  }),
  service: unsupported("mesh services"),
  backend: shortText("The name of one of the file's `backends`, which is the server."),
};

/** One of them says where the server is. */
export const serverKeys = ["host", "service", "backend"] as const;

/** How a server is reached that a policy calls; what holds for its backend otherwise. */
export const serverPolicies = object(
  pick(backendPolicySchemas(), ["backendTLS", "backendAuth", "http", "tcp"]),
  { minProperties: 1, description: "How the server is reached." },
);

/** The server that a file's policy names. */
export function lowerServer(
  given: {
    readonly host?: Text;
    readonly backend?: string;
    readonly policies?: BackendPoliciesValue;
  },
  origin: Origin,
): DestinationConfig {
  const { host, backend: name = "", policies } = given;
  const own = readBackendPolicies(policies, childOf(origin, "policies"));
  return host === undefined
    ? { to: { name }, policies: own, origin: childOf(origin, "backend") }
    : { to: { host }, policies: own, origin: childOf(origin, "host") };
}

/** The server that `backendRef` of a manifest's policy leads to; undefined when there is none (reported). */
export function lowerServerReference(
  reference: BackendReferenceValue,
  { origin, server }: KubernetesContext,
): DestinationConfig | undefined {
  const at = childOf(origin, "backendRef");
  const found = server(reference, at);
  return found && { to: { host: found.url }, policies: found.policies, origin: at };
}

/** The server of a policy; undefined when a mistake was reported. */
export function resolveTarget(
  config: DestinationConfig,
  context: ResolveContext,
): CalloutTarget | undefined {
  const found = resolveDestination(config, context);
  return found && calloutTarget(found);
}

/** The same for a server of gRPC. */
export function resolveGrpcTarget(
  config: DestinationConfig,
  context: ResolveContext,
): CalloutTarget | undefined {
  const found = resolveDestination(config, context);
  return found && grpcTarget(found, context.diagnostics);
}
