import { type AccessLogLine, accessLogLine, type LogFormat } from "../telemetry/logs/log-line.ts";
import type { LogWriter } from "../telemetry/logs/log-writer.ts";
import type { Connection } from "./connection.ts";

/** Logs one line per forwarded connection, in the format of the access log. */
export class ConnectionLog {
  readonly #writer: LogWriter;
  readonly #line: AccessLogLine;
  readonly #removed: ReadonlySet<string>;

  /** `removed`: fields that are omitted. */
  constructor(format: LogFormat, writer: LogWriter, removed: readonly string[]) {
    this.#writer = writer;
    this.#line = accessLogLine(format);
    this.#removed = new Set(removed);
  }

  /** `duration` is in milliseconds. */
  connection(connection: Connection, duration: number): void {
    const { remoteAddress, remotePort, serverName, record } = connection;
    const line = this.#line;
    line.begin();
    this.#text("listener", record.listener);
    this.#text("route", record.route);
    this.#text("endpoint", record.upstream);
    this.#text("src.addr", `${remoteAddress}:${remotePort}`);
    this.#text("tls.sni", serverName);
    this.#text("protocol", "tcp");
    this.#number("bytes.received", record.received);
    this.#number("bytes.sent", record.sent);
    this.#text("error", record.error);
    this.#text("reason", record.reason);
    if (!this.#removed.has("duration")) line.milliseconds("duration", duration);
    this.#writer.add(line.end());
  }

  #text(name: string, value: string | undefined): void {
    if (!this.#removed.has(name)) this.#line.text(name, value);
  }

  #number(name: string, value: number): void {
    if (!this.#removed.has(name)) this.#line.number(name, value);
  }
}
