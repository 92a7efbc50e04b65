import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { GrpcChannel } from "../../grpc/channel.ts";
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
  return grpcCollector("trace.v1.TraceService", settings);
}

/** Exports log records. */
export function grpcLogCollector(settings: GrpcCollectorSettings): Collector {
  return grpcCollector("logs.v1.LogsService", settings);
}

function grpcCollector(
  service: string,
  { channel, metadata = [] }: GrpcCollectorSettings,
): Collector {
  const path = `/opentelemetry.proto.collector.${service}/Export`;
  const method = { path, decode: readResponse };
  return {
    format: otlpProtobuf(),
    exporter: (_signal, gateway) => ({
      name: channel.name,
      send: async (request) => {
        try {
          const options = { deadline: EXPORT_DEADLINE, metadata };
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

/** Reads the response to an export, which is the same for all signals: `partial_success` is field 1. */
function readResponse(bytes: Uint8Array): ExportResult {
  const partial = { rejected: 0, message: "" };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === 1 && type === WireType.LengthDelimited) readPartial(reader.bytes(), partial);
    else reader.skip(type, number);
  }
  const { rejected, message } = partial;
  return { kind: "taken", rejected, detail: message || "some items were rejected" };
}

/** Reads the number of rejected items (field 1) and the reason (field 2). */
function readPartial(bytes: Uint8Array, partial: { rejected: number; message: string }): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === 1 && type === WireType.Varint) partial.rejected = Number(reader.int64());
    else if (number === 2 && type === WireType.LengthDelimited) partial.message = reader.string();
    else reader.skip(type, number);
  }
}
