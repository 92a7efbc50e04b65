import type { MessagePort } from "node:worker_threads";
import type { GatewayContext } from "./gateway-context.ts";
import {
  type CallHandle,
  type CallMessage,
  type LineCall,
  type ServeThreadCall,
  serveCall,
  startCall,
} from "./line-calls.ts";
import { ThreadLinks } from "./thread-links.ts";

/** Calls between this thread and others of its process. */
export class ThreadCalls {
  /** `undefined` until the ports are prepared: no other thread can know an address here before. */
  gateway: GatewayContext | undefined;
  readonly #links: ThreadLinks<CallMessage>;

  constructor(serve: ServeThreadCall) {
    this.#links = new ThreadLinks((first, line) => {
      const { gateway } = this;
      return serveCall(gateway && ((...call) => serve(gateway, ...call)), first, line);
    });
  }

  /** Connects to the thread of this index through `port`. */
  link(index: number, port: MessagePort): void {
    this.#links.add(index, port);
  }

  /** Returns false if there is no such thread, or if it does not serve now. */
  reaches(thread: number): boolean {
    return this.#links.reaches(thread);
  }

  /** Starts a call. Returns `undefined` if the thread is not reachable. */
  call(thread: number, ...call: LineCall): CallHandle | undefined {
    return startCall((listener) => this.#links.open(thread, listener), ...call);
  }
}
