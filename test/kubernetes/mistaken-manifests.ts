import { checkManifests, complaints, world } from "./manifests.ts";

/** A backend without mistakes. */
export const backend = `
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayBackend
metadata: {name: tools}
spec: {static: {host: tools.example.com, port: 80}}
`;

/** Returns the messages about a document in a world without mistakes. */
export function complaintsAbout(...documents: readonly string[]): readonly string[] {
  return complaints(checkManifests([world, backend, ...documents].join("\n---\n"))).map((line) =>
    line.replace(/^\d+ /, ""),
  );
}

/** A policy with a target and a section. */
export const policy = (target: string, rest: string): string =>
  `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {${target}, ${rest}}}`;

/** Returns the target of a policy. */
export const target = (kind: string, name: string, section?: string): string =>
  `targetRefs: [{group: ${kind === "Service" ? '""' : kind === "GatewayBackend" ? "gwc.dev" : "gateway.networking.k8s.io"}, ` +
  `kind: ${kind}, name: ${name}${section === undefined ? "" : `, sectionName: "${section}"`}}]`;

/** A section without mistakes. */
export const cors = "traffic: {cors: {allowOrigins: ['*']}}";

/** A route of HTTP. */
export const route = (name: string, spec: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: ${name}}, spec: {${spec}}}`;

/** A route of gRPC. */
export const calls = (spec: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: GRPCRoute, metadata: {name: z}, spec: {${spec}}}`;

/** A Gateway with these listeners. */
export const listener = (rest: string): string =>
  `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: tls}, spec: {gatewayClassName: gwc, listeners: [${rest}]}}`;
