import { isLevelEnabled, type LogLevel, type LogLevels } from "./log-level.ts";
import { jsonValue, type LogFormat, TimeText, textValue } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";

/** Messages of the process itself, in the access log's format and stream. */
export class ProcessLog {
  readonly #writer: LogWriter;
  readonly #format: LogFormat;
  readonly #levels: LogLevels;
  readonly #time = new TimeText();

  constructor(format: LogFormat, levels: LogLevels, writer: LogWriter) {
    this.#format = format;
    this.#levels = levels;
    this.#writer = writer;
  }

  info(message: string): void {
    if (isLevelEnabled(this.#levels.gateway, "info")) this.#say("info", "gateway", message);
  }

  warn(message: string): void {
    if (isLevelEnabled(this.#levels.gateway, "warn")) this.#say("warn", "gateway", message);
  }

  /** Returns the function that logs why connections were aborted; `undefined` if the level disables it. */
  get connections(): ((message: string) => void) | undefined {
    if (!isLevelEnabled(this.#levels.connection, "debug")) return undefined;
    return (message) => this.#say("debug", "connection", message);
  }

  #say(level: LogLevel, part: keyof LogLevels, message: string): void {
    const time = this.#time.format(Date.now());
    this.#writer.add(
      this.#format === "json"
        ? `{"level":"${level}","time":"${time}","scope":"${part}","message":${jsonValue(message)}}\n`
        : `${time}\t${level}\t${part} ${oneLine(message)}\n`,
    );
    this.#writer.flush();
  }
}

/** Returns the message unchanged, unless a control character in it could start a new line. */
function oneLine(message: string): string {
  return /^[ -~]*$/.test(message) ? message : textValue(message);
}
