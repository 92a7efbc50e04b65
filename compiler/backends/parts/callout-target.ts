import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Text } from "../../model/texts.ts";
import type { DestinationNode } from "./destination.ts";

/** A server that a request waits for, with a timeout in milliseconds. */
export interface CalloutTarget extends Pick<DestinationNode, "url" | "connection"> {
  readonly deadline: number;
}

/** Default timeout of a call, in milliseconds. */
const DEADLINE = 2_000;

/** Returns a server that a request waits for; `http.requestTimeout` of its policies is the timeout. */
export function calloutTarget({
  url,
  connection,
}: Pick<DestinationNode, "url" | "connection">): CalloutTarget {
  const { requestTimeout: deadline = DEADLINE, ...rest } = connection;
  return { url, connection: rest, deadline };
}

/**
 * Returns a gRPC server, which requires HTTP/2 and responds with messages; reports settings that contradict this.
 * `overHttp` names the setting for the same call without gRPC, if there is one.
 */
export function grpcTarget(
  {
    url,
    connection,
    http,
    responseHeaders,
    origin,
  }: Pick<DestinationNode, "url" | "connection" | "http" | "responseHeaders" | "origin">,
  diagnostics: Diagnostics,
  overHttp?: string,
): CalloutTarget {
  reportGrpcPath(url, overHttp, origin, diagnostics);
  if (http?.version === "HTTP1")
    diagnostics.report("grpc-over-http1", childOf(http.origin, "version"), {});
  if (responseHeaders !== undefined) {
    const params = { field: '"responseHeaderModifier"', user: "gRPC" };
    diagnostics.report("not-for-calls", keyPlace(responseHeaders.origin), params);
  }
  const { version: _, responseHeaders: __, ...own } = connection;
  return calloutTarget({ url, connection: own });
}

/**
 * Reports an address with a path, which gRPC does not allow; `overHttp` names the setting for the same call
 * without gRPC, if there is one.
 */
export function reportGrpcPath(
  url: Text,
  overHttp: string | undefined,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (typeof url !== "string" || url.startsWith("unix:")) return;
  const { pathname: path } = new URL(url);
  if (path !== "/") diagnostics.report("grpc-with-path", origin, { path, overHttp });
}
