import type { Connection } from "../tcp/connection.ts";
import type { LogFormat } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";
import { type RequestLine, requestLine } from "./request-line.ts";

/** How lines of connections are written. */
export interface ConnectionLogSettings {
  readonly format: LogFormat;
  /** Names of fields that are left out. */
  readonly removed: readonly string[];
  readonly writer: LogWriter;
}

/**
 * Writes one line for each connection whose bytes were passed on, in the form of the access log. Filters and added fields
 * are about requests; fields that are removed there are left out here too.
 */
export class ConnectionLog {
  readonly #line: RequestLine;
  readonly #writer: LogWriter;
  readonly #removed: ReadonlySet<string>;

  constructor({ format, removed, writer }: ConnectionLogSettings) {
    this.#line = requestLine(format);
    this.#removed = new Set(removed);
    this.#writer = writer;
  }

  /** `duration` is in milliseconds. */
  connection(connection: Connection, duration: number): void {
    const { remoteAddress, remotePort, serverName, record } = connection;
    const fields: readonly (readonly [string, string | undefined])[] = [
      ["listener", record.listener],
      ["route", record.route],
      ["endpoint", record.upstream],
      ["src.addr", `${remoteAddress}:${remotePort}`],
      ["tls.sni", serverName],
      ["protocol", "tcp"],
      ["bytes.received", String(record.received)],
      ["bytes.sent", String(record.sent)],
      ["error", record.error],
      ["reason", record.reason],
      ["duration", `${Math.round(duration)}ms`],
    ];
    const line = this.#line;
    line.begin();
    for (const [name, value] of fields) if (!this.#removed.has(name)) line.text(name, value);
    this.#writer.add(line.end());
  }
}
