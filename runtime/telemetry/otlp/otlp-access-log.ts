import { callerName } from "../../http/caller-identity.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { LogExport, LogFields, LogFilter } from "../logs/access-log.ts";
import type { MessageCapture } from "../message-capture.ts";
import { spanFields } from "../traces/span-values.ts";
import { AttributeRuns, OtlpAttributes } from "./attributes.ts";
import type { Collector } from "./collector.ts";
import { exportFigures } from "./export-metrics.ts";
import { ExportQueue } from "./export-queue.ts";
import { type LogRecord, logSignal } from "./otlp-format.ts";
import { resourceText } from "./resource.ts";

/** Exported requests, and the fields of their records. */
export interface LogRecords {
  /** Decides which requests are exported; absent for those that are logged. */
  readonly filter?: LogFilter;
  /** Writes the fields of a record; absent for those of a line. */
  readonly fields?: LogFields;
  /** Exports the messages of calls to models as events; absent if they are not captured. */
  readonly messages?: MessageCapture;
}

/** Event with the messages of a call (OpenTelemetry's conventions for generative AI). */
const DETAILS_EVENT = "gen_ai.client.inference.operation.details";

/** Exports log records of requests. */
export function otlpAccessLog(
  collector: Collector,
  { filter, fields: own, messages }: LogRecords = {},
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
      const add = (
        { startTime, record: { traceId, spanId } }: Exchange,
        duration: number,
        about: LogRecord["about"],
        attributes: OtlpAttributes,
      ): void => {
        const items = queue.room;
        if (items === undefined) return;
        format.logRecord(items, { time: startTime + duration, about, traceId, spanId }, attributes);
        queue.added(items);
      };
      return (exchange, status, duration, fields, isLogged) => {
        if (filter?.(exchange, status) ?? isLogged) {
          const attributes = new OtlpAttributes(runs);
          (own ?? fields)(attributes, exchange, status, duration);
          add(exchange, duration, REQUEST, attributes);
        }
        if (messages === undefined) return;
        const attributes = new OtlpAttributes(runs);
        if (!messages.write(attributes, exchange, status)) return;
        writeCall(attributes, exchange);
        add(exchange, duration, { event: DETAILS_EVENT }, attributes);
      };
    },
  };
}

const REQUEST: LogRecord["about"] = { body: "request" };

/** Writes what identifies a call: its route, its caller and its model. */
function writeCall(attributes: OtlpAttributes, { record }: Exchange): void {
  attributes.text("listener", record.listener);
  attributes.text("route", record.route);
  attributes.text("user", callerName(record));
  spanFields(attributes, record);
}
