import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { GrpcChannel } from "../../grpc/channel.ts";
import { LogsService } from "../../grpc/gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.ts";
import { TraceService } from "../../grpc/gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { GrpcError } from "../../grpc/status.ts";
import { type Collector, EXPORT_DEADLINE } from "./collector.ts";
import type { ExportResult } from "./export-queue.ts";
import { otlpProtobuf } from "./protobuf-format.ts";

/** The OTLP/gRPC destination of one signal. */
export interface GrpcCollectorSettings {
  readonly channel: GrpcChannel;
  /** Further metadata: a flat list. */
  readonly metadata?: readonly string[];
}

/** Exports spans. */
export function grpcTraceCollector(settings: GrpcCollectorSettings): Collector {
  return grpcCollector(TraceService.method.export, settings, ({ partialSuccess }) =>
    taken(partialSuccess?.rejectedSpans, partialSuccess?.errorMessage),
  );
}

/** Exports log records. */
export function grpcLogCollector(settings: GrpcCollectorSettings): Collector {
  return grpcCollector(LogsService.method.export, settings, ({ partialSuccess }) =>
    taken(partialSuccess?.rejectedLogRecords, partialSuccess?.errorMessage),
  );
}

function grpcCollector<Request extends DescMessage, Response extends DescMessage>(
  method: DescMethodUnary<Request, Response>,
  { channel, metadata = [] }: GrpcCollectorSettings,
  resultOf: (response: MessageShape<Response>) => ExportResult,
): Collector {
  return {
    format: otlpProtobuf(),
    exporter: (_signal, gateway) => ({
      name: channel.name,
      send: async (request) => {
        try {
          const options = { deadline: EXPORT_DEADLINE, metadata };
          return resultOf(await channel.callEncoded(gateway, method, request, options));
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

function taken(rejected: bigint | undefined, message: string | undefined): ExportResult {
  const detail = message === undefined || message === "" ? "some items were rejected" : message;
  return { kind: "taken", rejected: Number(rejected ?? 0n), detail };
}
