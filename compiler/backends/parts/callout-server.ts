import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendReferenceValue } from "../../manifests/field-types.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import type { ServerConfig } from "../../model/server-policies.ts";
import type { Text } from "../../model/texts.ts";
import { object, shortText, text, unsupported } from "../../schema/schema.ts";
import { type CalloutTarget, calloutTarget, grpcTarget } from "./callout-target.ts";
import { type ConnectionValue, connectionSchemas } from "./connection-schema.ts";
import { type DestinationContext, resolveDestination } from "./destination.ts";
import { readConnection } from "./read-connection.ts";

/** The fields of a file that name the server of a policy; exactly one of `serverKeys` is there. */
export const serverFields = {
  host: text("`host:port` or a URL of the server, or a Unix socket: `unix:/run/app.sock`.", {
    readAtStart: true,
    examples: ["127.0.0.1:8080"],
  }),
  service: unsupported("mesh services"),
  backend: shortText("The name of one of the file's `backends`, which is the server."),
};

/** One of them says where the server is. */
export const serverKeys = ["host", "service", "backend"] as const;

/** How a server is reached that a policy calls; what holds for its backend otherwise. */
export const serverPolicies = object(connectionSchemas(), {
  minProperties: 1,
  description: "How the server is reached.",
});

const TIMEOUT = "write policies: { http: { requestTimeout: 2s } }";
const ADDRESS = "write host: HOST:PORT";

/** What people look for beside a server: its address by another name, and the time that it has. */
export const serverWords = {
  ...{ timeout: TIMEOUT, requestTimeout: TIMEOUT },
  ...{ url: ADDRESS, address: ADDRESS, endpoint: ADDRESS },
};

/** The server that a file's policy names. */
export function lowerServer(
  given: {
    readonly host?: Text;
    readonly backend?: string;
    readonly policies?: ConnectionValue;
  },
  origin: Origin,
): DestinationConfig {
  const { host, backend: name = "", policies } = given;
  const own = policies && readConnection(policies, childOf(origin, "policies"));
  return host === undefined
    ? { to: { name }, policies: own, origin: childOf(origin, "backend") }
    : { to: { host }, policies: own, origin: childOf(origin, "host") };
}

/** What following the reference of a manifest needs. */
export interface ServerReferenceContext {
  readonly origin: Origin;
  /** The server that a backend reference leads to; undefined when there is none (reported). */
  readonly server: (reference: BackendReferenceValue, origin: Origin) => ServerConfig | undefined;
}

/** The server that `backendRef` of a manifest's policy leads to; undefined when there is none (reported). */
export function lowerServerReference(
  reference: BackendReferenceValue,
  { origin, server }: ServerReferenceContext,
): DestinationConfig | undefined {
  const at = childOf(origin, "backendRef");
  const found = server(reference, at);
  return found && destinationOf(found, at);
}

/** A server of manifests that is referred to at a place. */
export function destinationOf(
  { url, policies, source }: ServerConfig,
  origin: Origin,
): DestinationConfig {
  return { to: { host: url }, policies, source, origin };
}

/** The server of a policy; undefined when a mistake was reported. */
export function resolveTarget(
  config: DestinationConfig,
  context: DestinationContext,
): CalloutTarget | undefined {
  const found = resolveDestination(config, context);
  return found && calloutTarget(found);
}

/** The same for a server of gRPC. */
export function resolveGrpcTarget(
  config: DestinationConfig,
  context: DestinationContext,
  overHttp?: string,
): CalloutTarget | undefined {
  const found = resolveDestination(config, context);
  return found && grpcTarget(found, context.diagnostics, overHttp);
}
