import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { type BackendReferenceValue, backendReference } from "../../manifests/field-types.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import { isServerName, type NamedAddress, serverAddressOf } from "../../model/server-address.ts";
import type { ServerConfig } from "../../model/server-policies.ts";
import { object, text } from "../../schema/schema.ts";
import { type CalloutTarget, calloutTarget, grpcTarget } from "./callout-target.ts";
import { type ConnectionValue, connectionSchemas } from "./connection-schema.ts";
import { type DestinationContext, resolveDestination } from "./destination.ts";
import { readConnection } from "./read-connection.ts";
import { serverKeys, serverNameSchema } from "./server-name.ts";
import { serviceReferenceSchema } from "./service-reference.ts";

/** Fields of a file that name the server of a policy; exactly one of `serverKeys` is set. */
export const serverFields = {
  host: text("`host:port` or a URL of the server, or a Unix socket: `unix:/run/app.sock`.", {
    readAtStart: true,
    examples: ["127.0.0.1:8080"],
  }),
  service: serviceReferenceSchema,
  backend: serverNameSchema,
};

/** Schema of the connection policies of a server that a policy calls; by default those of its backend apply. */
export const serverPolicies = object(connectionSchemas(), {
  minProperties: 1,
  description: "Connection to the server.",
});

const TIMEOUT = "write policies: { http: { requestTimeout: 2s } }";
const ADDRESS = "write host: HOST:PORT";

/** Hints for fields that people expect next to a server: other words for its address and timeout. */
export const serverWords = {
  ...{ timeout: TIMEOUT, requestTimeout: TIMEOUT },
  ...{ url: ADDRESS, address: ADDRESS, endpoint: ADDRESS },
};

/** Reads the server that a file's policy names. */
export function lowerServer(
  given: NamedAddress & { readonly policies?: ConnectionValue },
  origin: Origin,
): DestinationConfig {
  const { policies } = given;
  const own = policies && readConnection(policies, childOf(origin, "policies"));
  return { ...namedDestination(given, origin), policies: own };
}

/** Returns the server that a file names, without policies of its own. */
export function namedDestination(
  given: NamedAddress,
  origin: Origin,
): Pick<DestinationConfig, "to" | "origin"> {
  const address = serverAddressOf(given);
  const key = serverKeys.find((each) => given[each] !== undefined) ?? "host";
  const to = isServerName(address) ? { name: address.name } : { host: address };
  return { to, origin: childOf(origin, key) };
}

/** Returns the fields of a manifest that name the server of a policy; exactly one of them is set. */
export function serverReferenceFields(description: string) {
  return {
    backendRef: backendReference(description),
    url: text(
      "The server by its URL, instead of `backendRef`. Policies of a Service with this host do not apply.",
      {
        maxLength: 1024,
        pattern: "^https?://[^/?#@]+(/[^?#]*)?$",
        form: "an http or https URL without user, query and fragment",
        examples: ["https://server.example.com"],
      },
    ),
  };
}

/** Names of the fields of `serverReferenceFields`. */
export const SERVER_REFERENCES = ["backendRef", "url"] as const;

/** The server of a policy in a manifest, as validated. */
interface ServerReferenceValue {
  readonly backendRef?: BackendReferenceValue | undefined;
  readonly url?: string | undefined;
}

/** Services needed to resolve a reference in a manifest. */
export interface ServerReferenceContext {
  readonly origin: Origin;
  /** Returns the server of a backend reference; `undefined` if it is unknown (reported). */
  readonly server: (reference: BackendReferenceValue, origin: Origin) => ServerConfig | undefined;
}

/** Reads the server of a manifest's policy; returns `undefined` if it is unknown (reported). */
export function lowerServerReference(
  { backendRef: reference, url }: ServerReferenceValue,
  { origin, server }: ServerReferenceContext,
): DestinationConfig | undefined {
  if (url !== undefined) return { to: { host: url }, origin: childOf(origin, "url") };
  if (reference === undefined) return undefined;
  const at = childOf(origin, "backendRef");
  const found = server(reference, at);
  return found && destinationOf(found, at);
}

/** Returns a manifest's server as a destination. */
export function destinationOf(
  { url, policies, source }: ServerConfig,
  origin: Origin,
): DestinationConfig {
  return { to: { host: url }, policies, source, origin };
}

/** Resolves the server of a policy; returns `undefined` if a mistake was reported. */
export function resolveTarget(
  config: DestinationConfig,
  context: DestinationContext,
): CalloutTarget | undefined {
  const found = resolveDestination(config, context);
  return found && calloutTarget(found);
}

/** Resolves a gRPC server of a policy; returns `undefined` if a mistake was reported. */
export function resolveGrpcTarget(
  config: DestinationConfig,
  context: DestinationContext,
  overHttp?: string,
): CalloutTarget | undefined {
  const found = resolveDestination(config, context);
  return found && grpcTarget(found, context.diagnostics, overHttp);
}
