import { jsonValue, type LogFormat, TimeText, textValue } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";

/** What the process says about itself, in the access log's format and stream. */
export class ProcessLog {
  readonly #writer: LogWriter;
  readonly #format: LogFormat;
  readonly #time = new TimeText();

  constructor(format: LogFormat, writer: LogWriter) {
    this.#format = format;
    this.#writer = writer;
  }

  info(message: string): void {
    this.#say("info", message);
  }

  warn(message: string): void {
    this.#say("warn", message);
  }

  #say(level: string, message: string): void {
    const time = this.#time.format(Date.now());
    this.#writer.add(
      this.#format === "json"
        ? `{"level":"${level}","time":"${time}","scope":"gateway","message":${jsonValue(message)}}\n`
        : `${time}\t${level}\tgateway ${oneLine(message)}\n`,
    );
    this.#writer.flush();
  }
}

/** The message as it is, unless a control character in it could start a line of its own. */
function oneLine(message: string): string {
  return /^[ -~]*$/.test(message) ? message : textValue(message);
}
