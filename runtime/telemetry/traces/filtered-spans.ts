import type { Exchange } from "../../http/exchange.ts";

/** Decides at the end of a request whether its span and those of its calls are exported. */
export interface SpanFilter {
  /** Returns whether the request's span is exported, and exports the spans that it holds if so. */
  decide(status: number | undefined): boolean;
  /** Calls a function that exports the span of a call, once the request is known to be exported. */
  hold(exportSpan: () => void): void;
}

/** Returns the function that opens the filter of a request. `isExported`: the configured condition. */
export function filterSpans(
  isExported: (request: Exchange, status: number | undefined) => boolean,
): (exchange: Exchange) => SpanFilter {
  return (exchange) => new RequestFilter(exchange, isExported);
}

class RequestFilter implements SpanFilter {
  readonly #exchange: Exchange;
  readonly #isExported: (request: Exchange, status: number | undefined) => boolean;
  #held: (() => void)[] = [];
  /** `undefined` until the end of the request. */
  #decision: boolean | undefined;

  constructor(
    exchange: Exchange,
    isExported: (request: Exchange, status: number | undefined) => boolean,
  ) {
    this.#exchange = exchange;
    this.#isExported = isExported;
  }

  decide(status: number | undefined): boolean {
    this.#decision ??= this.#isExported(this.#exchange, status);
    if (this.#decision) for (const exportSpan of this.#held) exportSpan();
    this.#held = [];
    return this.#decision;
  }

  hold(exportSpan: () => void): void {
    if (this.#decision === undefined) this.#held.push(exportSpan);
    else if (this.#decision) exportSpan();
  }
}
