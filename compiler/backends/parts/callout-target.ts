import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Text } from "../../model/texts.ts";
import type { DestinationNode } from "./destination.ts";

/** A server that holds a request up, with a limit of time, in milliseconds. */
export interface CalloutTarget extends Pick<DestinationNode, "url" | "connection"> {
  readonly deadline: number;
}

/** How long a call may take where nothing else is said; milliseconds. */
const DEADLINE = 2_000;

/** The server of calls that hold a request up: `http.requestTimeout` of its policies says for how long. */
export function calloutTarget({
  url,
  connection,
}: Pick<DestinationNode, "url" | "connection">): CalloutTarget {
  const { requestTimeout: deadline = DEADLINE, ...rest } = connection;
  return { url, connection: rest, deadline };
}

/**
 * The same for a server of gRPC, which is spoken over HTTP/2 alone, and whose responses are messages: what says otherwise is
 * reported. `overHttp`: what says that it is spoken to without gRPC, where that can be.
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

/** The address of a server of gRPC names no path; `overHttp`: what says that it is spoken to without gRPC, where that can be. */
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
