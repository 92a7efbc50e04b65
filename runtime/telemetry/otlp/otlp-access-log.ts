import type { LogExport, LogFields, LogFilter } from "../logs/access-log.ts";
import { AttributeRuns, OtlpAttributes } from "./attributes.ts";
import type { Collector } from "./collector.ts";
import { exportFigures } from "./export-metrics.ts";
import { ExportQueue } from "./export-queue.ts";
import { logSignal } from "./otlp-format.ts";
import { resourceText } from "./resource.ts";

/** Exported requests, and the fields of their records. */
export interface LogRecords {
  /** Decides which requests are exported; absent for those that are logged. */
  readonly filter?: LogFilter;
  /** Writes the fields of a record; absent for those of a line. */
  readonly fields?: LogFields;
}

/** Exports log records of requests. */
export function otlpAccessLog(
  collector: Collector,
  { filter, fields: own }: LogRecords = {},
): LogExport {
  const { format } = collector;
  return {
    open: (context) => {
      const { gateway, pending } = context;
      const resource = resourceText(format, context, undefined);
      const queue = new ExportQueue(
        "log records",
        collector.exporter(logSignal, gateway),
        format.envelope(logSignal, resource),
        { figures: exportFigures(gateway.metrics, "logs"), warn: gateway.warn, pending },
      );
      const runs = new AttributeRuns(format.attributes("logRecord"));
      return (exchange, status, duration, fields, isLogged) => {
        if (!(filter?.(exchange, status) ?? isLogged)) return;
        const items = queue.room;
        if (items === undefined) return;
        const { traceId, spanId } = exchange.record;
        const attributes = new OtlpAttributes(runs);
        (own ?? fields)(attributes, exchange, status, duration);
        const time = exchange.startTime + duration;
        format.logRecord(items, time, "request", attributes, traceId, spanId);
        queue.added(items);
      };
    },
  };
}
