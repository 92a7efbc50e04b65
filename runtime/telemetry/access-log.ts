import type { Exchange } from "../http/exchange.ts";
import { jsonValue, TimeText, textValue } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";

/** How access lines are written. */
export interface AccessLogSettings {
  readonly format: "text" | "json";
}

/** Writes one line for each request. Bodies, tokens and query strings are never in it. */
export interface AccessLog {
  /** `status` is undefined when the client left unanswered; `duration` is in milliseconds. */
  request(exchange: Exchange, status: number | undefined, duration: number): void;
}

/** The access log of a format. */
export function accessLog(format: "text" | "json", writer: LogWriter): AccessLog {
  return format === "json" ? new JsonAccessLog(writer) : new TextAccessLog(writer);
}

/** `TIME<TAB>info<TAB>request name=value ...` */
class TextAccessLog implements AccessLog {
  readonly #writer: LogWriter;
  readonly #time = new TimeText();

  constructor(writer: LogWriter) {
    this.#writer = writer;
  }

  request(exchange: Exchange, status: number | undefined, duration: number): void {
    const { record, asSent } = exchange;
    let line = `${this.#time.format(Date.now())}\tinfo\trequest`;
    if (record.listener !== undefined) line += ` listener=${textValue(record.listener)}`;
    if (record.route !== undefined) line += ` route=${textValue(record.route)}`;
    if (record.upstream !== undefined) line += ` endpoint=${textValue(record.upstream)}`;
    line += ` src.addr=${exchange.remoteAddress}:${exchange.remotePort}`;
    line += ` http.method=${textValue(asSent.method)} http.host=${textValue(asSent.host)}`;
    line += ` http.path=${textValue(pathOf(asSent.target))} http.version=${exchange.version}`;
    if (status !== undefined) line += ` http.status=${status}`;
    if (record.fields !== undefined) {
      for (const [name, value] of record.fields) line += ` ${name}=${textValue(value)}`;
    }
    if (record.reason !== undefined) line += ` reason=${record.reason}`;
    this.#writer.add(`${line} duration=${Math.round(duration)}ms\n`);
  }
}

/** One object a line, the same names. */
class JsonAccessLog implements AccessLog {
  readonly #writer: LogWriter;
  readonly #time = new TimeText();

  constructor(writer: LogWriter) {
    this.#writer = writer;
  }

  request(exchange: Exchange, status: number | undefined, duration: number): void {
    const { record, asSent } = exchange;
    let line = `{"level":"info","time":"${this.#time.format(Date.now())}","scope":"request"`;
    if (record.listener !== undefined) line += `,"listener":${jsonValue(record.listener)}`;
    if (record.route !== undefined) line += `,"route":${jsonValue(record.route)}`;
    if (record.upstream !== undefined) line += `,"endpoint":${jsonValue(record.upstream)}`;
    line += `,"src.addr":"${exchange.remoteAddress}:${exchange.remotePort}"`;
    line += `,"http.method":${jsonValue(asSent.method)},"http.host":${jsonValue(asSent.host)}`;
    line += `,"http.path":${jsonValue(pathOf(asSent.target))},"http.version":"${exchange.version}"`;
    if (status !== undefined) line += `,"http.status":${status}`;
    if (record.fields !== undefined) {
      for (const [name, value] of record.fields) line += `,${jsonValue(name)}:${jsonValue(value)}`;
    }
    if (record.reason !== undefined) line += `,"reason":"${record.reason}"`;
    this.#writer.add(`${line},"duration":"${Math.round(duration)}ms"}\n`);
  }
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}
