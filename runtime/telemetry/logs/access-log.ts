import { callerName } from "../../http/caller-identity.ts";
import type { Exchange, ExchangeRecord } from "../../http/exchange.ts";
import type { FieldWriter } from "../field-writer.ts";
import type { TelemetryContext } from "../telemetry-context.ts";
import { type AccessLogLine, accessLogLine, type LogFormat } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";

/** Settings of access log lines. */
export interface AccessLogSettings {
  readonly format: LogFormat;
  /** Decides which requests are logged; absent for all. */
  readonly filter?: LogFilter;
  /** Writes the fields of a line; absent for the default fields. */
  readonly fields?: LogFields;
  /** Exports records of requests; absent if none are exported. */
  readonly export?: LogExport;
}

/** The destination of exported records, before the gateway runs. */
export interface LogExport {
  open(context: TelemetryContext): LogRecorder;
}

/** Records a request; `fields` writes the fields of its line, whether it is logged or not. */
export type LogRecorder = (
  exchange: Exchange,
  status: number | undefined,
  duration: number,
  fields: LogFields,
  isLogged: boolean,
) => void;

/** Decides whether a request is logged. */
export type LogFilter = (exchange: Exchange, status: number | undefined) => boolean;

/** Writes the fields of a request's line. */
export type LogFields = (
  line: FieldWriter,
  exchange: Exchange,
  status: number | undefined,
  duration: number,
) => void;

/** Writes one line per request. It contains no bodies, tokens or query strings unless an expression reads them. */
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

  /** `status` is `undefined` if the client disconnected before the response; `duration` is in milliseconds. */
  request(exchange: Exchange, status: number | undefined, duration: number): void {
    const isLogged = this.#filter?.(exchange, status) !== false;
    if (isLogged) {
      const line = this.#line;
      line.begin();
      this.#fields(line, exchange, status, duration);
      this.#writer.add(line.end());
    }
    this.#record?.(exchange, status, duration, this.#fields, isLogged);
  }
}

/** Writes the default fields. Generated functions use the same order. */
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
  if (record.callers !== undefined) line.text("user", callerName(record));
  line.text("http.method", original.method);
  line.text("http.host", original.host);
  line.text("http.path", original.path);
  line.plain("http.version", exchange.version);
  line.number("http.status", status);
  if (record.traceId !== undefined) line.plain("trace.id", record.traceId);
  if (record.spanId !== undefined) line.plain("span.id", record.spanId);
  logExtraFields(line, record);
  line.text("reason", record.reason);
  line.milliseconds("duration", duration);
}

/** Writes the fields that policies and backends have set. */
export function logExtraFields(line: FieldWriter, { fields }: ExchangeRecord): void {
  if (fields === undefined) return;
  const { list } = fields;
  for (let i = 0; i < list.length; i += 2) writeNoted(line, list[i] ?? "", list[i + 1]);
}

/** Writes a noted field. Durations of callouts are noted as `12ms`. */
function writeNoted(line: FieldWriter, name: string, value: string | undefined): void {
  const duration = name.endsWith(".duration") ? Number.parseFloat(value ?? "") : Number.NaN;
  if (Number.isNaN(duration)) line.text(name, value);
  else line.milliseconds(name, duration);
}

/** Writes the same fields except some. */
export function logExtraFieldsExcept(
  line: FieldWriter,
  { fields }: ExchangeRecord,
  names: ReadonlySet<string>,
): void {
  if (fields === undefined) return;
  for (const [name, value] of fields.entries()) if (!names.has(name)) writeNoted(line, name, value);
}
