import type { GrpcChannel } from "../../grpc/channel.ts";
import { framePrefix } from "../../grpc/frames.ts";
import { GrpcError } from "../../grpc/status.ts";
import { type Collector, EXPORT_DEADLINE } from "./collector.ts";
import { readExportResponse } from "./export-response.ts";
import { otlpProtobuf } from "./protobuf-format.ts";

/** The OTLP/gRPC destination of one signal. */
export interface GrpcCollectorSettings {
  readonly channel: GrpcChannel;
  /** Further metadata: a flat list. */
  readonly metadata?: readonly string[];
  /** Maximum milliseconds for sending a batch; 10 s if absent. */
  readonly deadline?: number;
}

/** Exports spans. */
export function grpcTraceCollector(settings: GrpcCollectorSettings): Collector {
  return grpcCollector("trace.v1.TraceService", settings);
}

/** Exports log records. */
export function grpcLogCollector(settings: GrpcCollectorSettings): Collector {
  return grpcCollector("logs.v1.LogsService", settings);
}

function grpcCollector(
  service: string,
  { channel, metadata = [], deadline = EXPORT_DEADLINE }: GrpcCollectorSettings,
): Collector {
  const path = `/opentelemetry.proto.collector.${service}/Export`;
  const method = { path, decode: readExportResponse };
  return {
    format: otlpProtobuf(framePrefix),
    exporter: (_signal, gateway) => ({
      name: channel.name,
      send: async (request) => {
        try {
          const options = { deadline, metadata };
          return await channel.callEncoded(gateway, method, request, options);
        } catch (error) {
          if (!(error instanceof GrpcError)) throw error;
          const detail = `gRPC status ${error.code}, ${error.message}`;
          return PASSING.includes(error.code)
            ? { kind: "again", after: undefined, detail }
            : { kind: "refused", detail };
        }
      },
    }),
  };
}

/** The statuses after which a batch may be retried (OTLP/gRPC, Failures). */
const PASSING: readonly number[] = [1, 4, 8, 10, 11, 14, 15];
