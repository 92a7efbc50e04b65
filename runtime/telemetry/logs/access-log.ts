import type { Exchange, ExchangeRecord } from "../../http/exchange.ts";
import type { FieldWriter } from "../field-writer.ts";
import type { TelemetryContext } from "../telemetry-context.ts";
import { type AccessLogLine, accessLogLine, type LogFormat } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";

/** How access lines are written. */
export interface AccessLogSettings {
  readonly format: LogFormat;
  /** Which requests have a line; absent: all. */
  readonly filter?: LogFilter;
  /** What a line holds; absent: the default fields. */
  readonly fields?: LogFields;
  /** Where a record of each line goes as well; absent: nowhere. */
  readonly export?: LogExport;
}

/** Where records of access lines go, before the gateway runs. */
export interface LogExport {
  open(context: TelemetryContext): LogRecorder;
}

/** Takes a request that has a line, and what writes its fields. */
export type LogRecorder = (
  exchange: Exchange,
  status: number | undefined,
  duration: number,
  fields: LogFields,
) => void;

/** Whether a request has a line. */
export type LogFilter = (exchange: Exchange, status: number | undefined) => boolean;

/** Writes the fields of a request's line. */
export type LogFields = (
  line: FieldWriter,
  exchange: Exchange,
  status: number | undefined,
  duration: number,
) => void;

/** Writes one line for each request. Bodies, tokens and query strings are never in it unless an expression reads them. */
export class AccessLog {
  readonly #writer: LogWriter;
  readonly #line: AccessLogLine;
  readonly #filter: LogFilter | undefined;
  readonly #fields: LogFields;
  readonly #record: LogRecorder | undefined;

  constructor(
    { format, filter, fields = defaultFields, export: records }: AccessLogSettings,
    writer: LogWriter,
    context: TelemetryContext,
  ) {
    this.#record = records?.open(context);
    this.#writer = writer;
    this.#line = accessLogLine(format);
    this.#filter = filter;
    this.#fields = fields;
  }

  /** `status` is undefined when the client left unanswered; `duration` is in milliseconds. */
  request(exchange: Exchange, status: number | undefined, duration: number): void {
    if (this.#filter?.(exchange, status) === false) return;
    const line = this.#line;
    line.begin();
    this.#fields(line, exchange, status, duration);
    this.#writer.add(line.end());
    this.#record?.(exchange, status, duration, this.#fields);
  }
}

/** What a line holds unless the configuration says otherwise; a generated function of it has the same order. */
function defaultFields(
  line: FieldWriter,
  exchange: Exchange,
  status: number | undefined,
  duration: number,
): void {
  const { record, original } = exchange;
  line.text("listener", record.listener);
  line.text("route", record.route);
  line.text("endpoint", record.upstream);
  line.plain("src.addr", `${exchange.remoteAddress}:${exchange.remotePort}`);
  line.text("http.method", original.method);
  line.text("http.host", original.host);
  line.text("http.path", original.path);
  line.plain("http.version", exchange.version);
  line.number("http.status", status);
  if (record.traceId !== undefined) line.plain("trace.id", record.traceId);
  if (record.spanId !== undefined) line.plain("span.id", record.spanId);
  logExtraFields(line, record);
  line.text("reason", record.reason);
  line.plain("duration", `${Math.round(duration)}ms`);
}

/** Adds what policies and backends noted. */
export function logExtraFields(line: FieldWriter, { fields }: ExchangeRecord): void {
  if (fields === undefined) return;
  const { list } = fields;
  for (let i = 0; i < list.length; i += 2) line.text(list[i] ?? "", list[i + 1]);
}

/** The same without some. */
export function logExtraFieldsExcept(
  line: FieldWriter,
  { fields }: ExchangeRecord,
  names: ReadonlySet<string>,
): void {
  if (fields === undefined) return;
  for (const [name, value] of fields.entries()) if (!names.has(name)) line.text(name, value);
}
