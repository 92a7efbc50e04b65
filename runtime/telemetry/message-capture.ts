import type { Exchange } from "../http/exchange.ts";
import type { FieldWriter } from "./field-writer.ts";

/** Writes attributes that may be long. */
export interface LongFieldWriter extends FieldWriter {
  /** A string that is never truncated. */
  content(name: string, value: string): void;
}

/** Captures the messages of calls to models. */
export interface MessageCapture {
  /** Writes the messages of a request; returns false if it is not captured. `status`: as in `LogFilter`. */
  write(attributes: LongFieldWriter, exchange: Exchange, status: number | undefined): boolean;
}
