import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { atEnd } from "./at-end.ts";

/** A question of a gateway, as the protocol names its fields. */
export interface Question {
  readonly call: "request" | "response";
  readonly servers: readonly string[];
  readonly method: string;
  /** `params` or `result`; `undefined` without parameters. */
  readonly content: unknown;
  readonly metadata: unknown;
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

/** The reply of a processor, with the names of the protocol; texts of `mutated` and `mcp_error` are JSON. */
export interface Reply {
  readonly pass?: object;
  readonly mutated?: Buffer;
  readonly error?: { readonly code?: string; readonly reason: string; readonly mcp_error?: Buffer };
  readonly header_mutation?: object;
}

/** A processor of MCP messages on grpc-js, gRPC's own implementation for Node.js. */
export interface McpProcessor {
  /** `host:port` */
  readonly host: string;
  readonly asked: Question[];
  reply: (question: Question) => Reply | undefined;
}

interface Entry {
  readonly key: string;
  readonly value: Buffer;
}

interface WireRequest {
  readonly service_names: readonly string[];
  readonly method: string;
  readonly metadata_context?: unknown;
  readonly mcp_request?: Buffer | null;
  readonly mcp_response?: Buffer;
  readonly headers?: readonly Entry[];
}

/** Starts one that passes everything; without a reply, its call fails. */
export async function startMcpProcessor(): Promise<McpProcessor> {
  const file = new URL("../../runtime/grpc/protos/ext_mcp.proto", import.meta.url).pathname;
  const loaded = loadPackageDefinition(loadSync(file, { keepCase: true, enums: String }));
  // Packages of a definition that is loaded at run time have no types.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  const { service } = (loaded as any).agentgateway.dev.ext_mcp.ExtMcp;
  const processor: McpProcessor = { host: "", asked: [], reply: () => ({ pass: {} }) };
  const handle =
    (call: Question["call"]) =>
    ({ request }: ServerUnaryCall<WireRequest, Reply>, respond: sendUnaryData<Reply>) => {
      const question = questionOf(call, request);
      processor.asked.push(question);
      const reply = processor.reply(question);
      if (reply === undefined) respond({ code: 13, details: "broken" });
      else respond(null, reply);
    };
  const server = new Server();
  server.addService(service, {
    CheckRequest: handle("request"),
    CheckResponse: handle("response"),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  atEnd(() => server.forceShutdown());
  return Object.assign(processor, { host: `127.0.0.1:${port}` });
}

function questionOf(call: Question["call"], request: WireRequest): Question {
  const { service_names: servers, method, metadata_context: metadata, headers = [] } = request;
  const content = call === "request" ? request.mcp_request : request.mcp_response;
  const lists: Record<string, string[]> = {};
  for (const { key, value } of headers) {
    lists[key] ??= [];
    lists[key].push(value.toString("latin1"));
  }
  return {
    ...{ call, servers, method, metadata, headers: lists },
    content: content?.length ? JSON.parse(content.toString("utf8")) : undefined,
  };
}
