import { createServer, type ServerHttp2Stream } from "node:http2";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type {
  HeaderValueOption_HeaderAppendAction,
  HeaderValueOptionSchema,
} from "../../runtime/grpc/gen/envoy/config/core/v3/base_pb.ts";
import { CheckResponseSchema } from "../../runtime/grpc/gen/envoy/service/auth/v3/external_auth_pb.ts";
import {
  ProcessingRequestSchema,
  ProcessingResponseSchema,
} from "../../runtime/grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import {
  RateLimitResponse_Code,
  RateLimitResponseSchema,
} from "../../runtime/grpc/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { listen } from "./listen.ts";

/** The one header that the services set from now on. */
export interface WantedEdit {
  name: string;
  value: string;
  action: HeaderValueOption_HeaderAppendAction;
}

/**
 * Starts servers of Envoy's three protocols on one port: they allow everything, and each sets that header of the request in
 * each of its responses. Gives the address, `host:port`.
 */
export async function startHeaderEditingServices(edit: WantedEdit): Promise<string> {
  const server = createServer();
  server.on("session", (session) => session.on("error", () => {}));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    const path = String(headers[":path"]);
    const respond = path.includes("ShouldRateLimit")
      ? () => limitResponse(edit)
      : path.includes("Check")
        ? () => checkResponse(edit)
        : (message: Buffer) => processingResponse(message, edit);
    respondToEach(stream, respond);
  });
  return `127.0.0.1:${await listen(server)}`;
}

function respondToEach(stream: ServerHttp2Stream, respond: (message: Buffer) => Uint8Array): void {
  let rest = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const length = rest.readUInt32BE(1);
      const response = respond(rest.subarray(5, 5 + length));
      rest = rest.subarray(5 + length);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(response.length, 1);
      stream.write(Buffer.concat([prefix, response]));
    }
  });
  stream.on("end", () => stream.end());
}

function option({
  name,
  value,
  action,
}: WantedEdit): MessageInitShape<typeof HeaderValueOptionSchema> {
  return { header: { key: name, rawValue: Buffer.from(value, "latin1") }, appendAction: action };
}

function checkResponse(edit: WantedEdit): Uint8Array {
  const value = { headers: [option(edit)] };
  const response = { status: {}, httpResponse: { case: "okResponse", value } } as const;
  return toBinary(CheckResponseSchema, create(CheckResponseSchema, response));
}

function limitResponse({ name, value }: WantedEdit): Uint8Array {
  const requestHeadersToAdd = [{ key: name, rawValue: Buffer.from(value, "latin1") }];
  const response = { overallCode: RateLimitResponse_Code.OK, requestHeadersToAdd };
  return toBinary(RateLimitResponseSchema, create(RateLimitResponseSchema, response));
}

function processingResponse(message: Buffer, edit: WantedEdit): Uint8Array {
  const { request } = fromBinary(ProcessingRequestSchema, message);
  const headerMutation = { setHeaders: [option(edit)] };
  const common = { response: { headerMutation } };
  const response =
    request.case === "requestTrailers"
      ? ({ case: "requestTrailers", value: { headerMutation } } as const)
      : request.case === "requestBody"
        ? ({ case: "requestBody", value: common } as const)
        : ({ case: "requestHeaders", value: common } as const);
  return toBinary(ProcessingResponseSchema, create(ProcessingResponseSchema, { response }));
}
