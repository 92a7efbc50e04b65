import type {
  CheckResponse,
  DeniedHttpResponse,
} from "../../grpc/gen/envoy/service/auth/v3/external_auth_pb.ts";
import { headerEdits, removedNames, replyHeaders } from "../envoy/header-edits.ts";
import type { ServerReply } from "../envoy/server-reply.ts";
import { type AuthorizationVerdict, plainVerdict } from "./verdict.ts";

/** Converts a server's response (`service.auth.v3.CheckResponse`). Only its status decides whether the request is allowed. */
export function verdictOf({
  status,
  httpResponse,
  dynamicMetadata,
}: CheckResponse): AuthorizationVerdict {
  const metadata = dynamicMetadata;
  const code = status?.code ?? 0;
  if (code !== 0) {
    const denied = httpResponse.case === "deniedResponse" ? httpResponse.value : undefined;
    return {
      ...plainVerdict,
      status: `gRPC status ${code}`,
      denial: denied === undefined ? "refusal" : denialOf(denied),
      metadata,
    };
  }
  if (httpResponse.case !== "okResponse") return { ...plainVerdict, metadata };
  const allowed = httpResponse.value;
  return {
    ...plainVerdict,
    removed: removedNames(allowed.headersToRemove),
    headers: headerEdits(allowed.headers, "overwrite"),
    query: {
      set: allowed.queryParametersToSet.map(({ key, value }) => [key, value]),
      removed: allowed.queryParametersToRemove,
    },
    responseHeaders: headerEdits(allowed.responseHeadersToAdd, "append"),
    metadata: metadata ?? allowed.dynamicMetadata,
  };
}

function denialOf({ status, headers, body }: DeniedHttpResponse): ServerReply {
  const code = status?.code ?? 0;
  return {
    status: code >= 200 && code <= 599 ? code : 403,
    headers: replyHeaders(headers, body !== ""),
    body,
  };
}
