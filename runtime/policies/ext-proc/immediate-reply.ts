import type { ImmediateResponse } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import { replyHeaders } from "../envoy/header-edits.ts";
import type { ServerReply } from "../envoy/server-reply.ts";

/** A response that a processor gives to the client itself. */
export interface ImmediateReply extends ServerReply {
  /** The status of a call of gRPC; undefined: it says none. */
  readonly callStatus: number | undefined;
}

/** What a processor gives to the client; 200 unless it says a status. */
export function immediateReply({
  status,
  headers,
  body,
  grpcStatus,
}: ImmediateResponse): ImmediateReply {
  const code = status?.code ?? 0;
  return {
    status: code >= 200 && code <= 599 ? code : 200,
    headers: replyHeaders(headers?.setHeaders ?? [], body.length > 0),
    body,
    callStatus: grpcStatus?.status,
  };
}
