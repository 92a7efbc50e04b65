import { createServer as createHttpServer } from "node:http";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { beforeAll, expect, it } from "vitest";
import { frameOf } from "../../runtime/grpc/frames.ts";
import { ProcessingResponseSchema } from "../../runtime/grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { send } from "../harness/send.ts";
import { startRoutes } from "../policies/routes.ts";

type Response = NonNullable<MessageInitShape<typeof ProcessingResponseSchema>["response"]>;

function set(key: string, value: string) {
  return { header: { key, rawValue: Buffer.from(value) } };
}

function head(phase: "requestHeaders" | "responseHeaders"): Response {
  const headerMutation = { setHeaders: [set("x-processed", phase)] };
  return { case: phase, value: { response: { headerMutation } } };
}

function piece(phase: "requestBody" | "responseBody", endOfStream: boolean): Response {
  const value = { body: Buffer.from("processed"), endOfStream };
  return {
    case: phase,
    value: { response: { bodyMutation: { mutation: { case: "streamedResponse", value } } } },
  };
}

const refusal: Response = {
  case: "immediateResponse",
  value: {
    status: { code: 401 },
    body: Buffer.from("no"),
    headers: { setHeaders: [set("content-length", "999"), set("transfer-encoding", "chunked")] },
  },
};

/** All that a processor says to the head of a request, and the status that its client gets. */
const processors: Readonly<Record<string, readonly [status: number, said: readonly Response[]]>> = {
  "answers the head twice": [500, [head("requestHeaders"), head("requestHeaders")]],
  "speaks of a response that is not there": [500, [head("responseHeaders")]],
  "speaks of a response that has not come": [
    500,
    [head("requestHeaders"), head("responseHeaders"), piece("responseBody", true)],
  ],
  "continues a body that it has ended": [
    500,
    [head("requestHeaders"), piece("requestBody", true), piece("requestBody", true)],
  ],
  "speaks of trailers that nobody has shown it": [
    500,
    [{ case: "requestTrailers", value: { headerMutation: { setHeaders: [set("x-a", "1")] } } }],
  ],
  "says nothing in a message": [500, [{ case: undefined }]],
  "refuses after it has let the request pass": [401, [head("requestHeaders"), refusal]],
  "refuses twice": [401, [refusal, refusal]],
};

const modes = ["none", "buffered", "fullDuplexStreamed"];

let gateway: Gateway;

beforeAll(async () => {
  const upstream = await listen(
    createHttpServer((request, response) => {
      request.resume().on("end", () => response.end("what nobody may see"));
    }),
  );
  const routes = await Promise.all(
    Object.values(processors).map(async ([, said], index) => {
      const server = createServer();
      server.on("session", (session) => session.on("error", () => {}));
      server.on("stream", (stream) => stream.once("data", () => says(stream, said)));
      const host = `127.0.0.1:${await listen(server)}`;
      return modes.map((mode) => {
        const processingOptions = { requestBodyMode: mode, responseBodyMode: mode };
        return [
          `${index}-${mode}`,
          { policies: { extProc: { host, processingOptions, policies: patient } } },
        ] as const;
      });
    }),
  );
  gateway = await startRoutes(Object.fromEntries(routes.flat()), {
    url: `http://127.0.0.1:${upstream}`,
  });
});

function says(stream: ServerHttp2Stream, said: readonly Response[]): void {
  stream.on("error", () => {});
  stream.respond({ ":status": 200, "content-type": "application/grpc" });
  // In one piece: what comes later may be in turn.
  stream.write(Buffer.concat(said.map(framed)));
}

function framed(response: Response): Buffer {
  return frameOf(
    toBinary(ProcessingResponseSchema, create(ProcessingResponseSchema, { response })),
  );
}

it.each(
  Object.entries(processors).map(([name, [status]], index) => [name, status, index] as const),
)("a request is refused whose processor %s (%i)", async (_, status, index) => {
  for (const mode of modes) {
    const response = await send(`${gateway.url}/${index}-${mode}`, "POST", {}, "hello");
    expect(response.status, mode).toBe(status);
    expect(response.body, mode).toBe(status === 401 ? "no" : "external processing failed");
  }
});
