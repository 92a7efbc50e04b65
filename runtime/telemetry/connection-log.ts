import type { Connection } from "../tcp/connection.ts";
import { jsonValue, TimeText, textValue } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";

/** Writes one line for each connection whose bytes were passed on, in the form of the access log. */
export class ConnectionLog {
  readonly #isJson: boolean;
  readonly #writer: LogWriter;
  readonly #time = new TimeText();

  constructor(format: "text" | "json", writer: LogWriter) {
    this.#isJson = format === "json";
    this.#writer = writer;
  }

  /** `duration` is in milliseconds. */
  connection(connection: Connection, duration: number): void {
    const time = this.#time.format(Date.now());
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
    let line = this.#isJson
      ? `{"level":"info","time":"${time}","scope":"request"`
      : `${time}\tinfo\trequest`;
    for (const [name, value] of fields) {
      if (value === undefined) continue;
      line += this.#isJson ? `,"${name}":${jsonValue(value)}` : ` ${name}=${textValue(value)}`;
    }
    this.#writer.add(this.#isJson ? `${line}}\n` : `${line}\n`);
  }
}
