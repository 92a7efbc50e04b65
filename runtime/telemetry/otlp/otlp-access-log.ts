import type { LogExport } from "../logs/access-log.ts";
import { AttributeTexts, OtlpAttributes } from "./attributes.ts";
import type { Collector } from "./collector.ts";
import { exportFigures } from "./export-metrics.ts";
import { ExportQueue } from "./export-queue.ts";
import { NanosecondText } from "./nanoseconds.ts";
import { resourceJson } from "./resource.ts";

/** Sends a log record of each request that has an access line to a collector, with the same fields. */
export function otlpAccessLog(collector: Collector): LogExport {
  return {
    open: (context) => {
      const { gateway, pending } = context;
      const figures = exportFigures(gateway.metrics, "logs");
      const envelope = {
        open: `{"resourceLogs":[{"resource":${resourceJson(context, undefined)},"scopeLogs":[{"scope":{"name":"gwc"},"logRecords":[`,
        close: "]}]}]}",
        rejected: "rejectedLogRecords",
      };
      const exporter = collector.exporter(envelope, gateway);
      const queue = new ExportQueue("log records", exporter, {
        figures,
        warn: gateway.warn,
        pending,
      });
      const texts = new AttributeTexts();
      const times = new NanosecondText();
      return (exchange, status, duration, fields) => {
        const { traceId, spanId } = exchange.record;
        const attributes = new OtlpAttributes(texts);
        fields(attributes, exchange, status, duration);
        const trace = traceId === undefined ? "" : `,"traceId":"${traceId}"`;
        const span = spanId === undefined ? "" : `,"spanId":"${spanId}"`;
        queue.add(
          `{"timeUnixNano":"${times.format(exchange.startTime + duration)}","severityNumber":9,"severityText":"INFO",` +
            `"body":{"stringValue":"request"},"attributes":${attributes.list}${trace}${span}}`,
        );
      };
    },
  };
}
