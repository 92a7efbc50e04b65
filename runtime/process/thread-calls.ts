import type { MessagePort } from "node:worker_threads";
import type { GatewayContext } from "./gateway-context.ts";
import { type LineListener, type ThreadLine, ThreadLinks } from "./thread-links.ts";

/** What is called, with which request, and who takes what comes of it. */
export type ThreadCall = readonly [address: string, request: string, listener: CallListener];

/** Serves a call of another thread. Undefined: what it calls is not there. */
export type ServeThreadCall = (
  gateway: GatewayContext,
  ...call: ThreadCall
) => CallHandle | undefined;

/** Takes what comes of a call, as texts. */
export interface CallListener {
  /** False: send no more until `resume`. */
  onMessage(text: string): boolean;
  onResponse(text: string): void;
  /** `text`: what it is, as JSON. */
  onFailure(text: string): void;
  /** What was called is not there any more, or its thread has ended. */
  onGone(): void;
}

/** A call under way. */
export interface CallHandle {
  cancel(): void;
  resume(): void;
}

/** What two threads say about a call. */
type CallMessage =
  | { readonly kind: "call"; readonly address: string; readonly request: string }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "response"; readonly text: string }
  | { readonly kind: "failure"; readonly text: string }
  /** What it calls is not there. */
  | { readonly kind: "gone" }
  /** So many messages are with the client. */
  | { readonly kind: "heard"; readonly count: number }
  | { readonly kind: "cancel" };

/** Messages on the way to a client at most. */
const MAX_UNHEARD = 16;

/** Calls of a thread to others of its process, and of those to it. */
export class ThreadCalls {
  /** Undefined until the ports are prepared: no other thread knows of anything here before. */
  gateway: GatewayContext | undefined;
  readonly #serve: ServeThreadCall;
  readonly #links = new ThreadLinks<CallMessage>((first, line) => this.#receive(first, line));

  constructor(serve: ServeThreadCall) {
    this.#serve = serve;
  }

  /** `port` leads to the thread of this index from now on. */
  link(index: number, port: MessagePort): void {
    this.#links.add(index, port);
  }

  /** False: there is no such thread, or it does not serve now. */
  reaches(thread: number): boolean {
    return this.#links.reaches(thread);
  }

  /** Undefined: the thread is not reached. */
  call(thread: number, ...[address, request, listener]: ThreadCall): CallHandle | undefined {
    let isFull = false;
    let heard = 0;
    const sayHeard = () => {
      isFull = false;
      line?.say({ kind: "heard", count: heard });
      heard = 0;
    };
    const end = () => line?.hangUp();
    const line = this.#links.open(thread, {
      onMessage: (message) => {
        switch (message.kind) {
          case "message":
            heard++;
            if (!listener.onMessage(message.text)) isFull = true;
            else if (!isFull) sayHeard();
            return;
          case "response":
            end();
            listener.onResponse(message.text);
            return;
          case "failure":
            end();
            listener.onFailure(message.text);
            return;
          case "gone":
            end();
            listener.onGone();
            return;
          default:
        }
      },
      onLost: () => listener.onGone(),
    });
    if (line === undefined) return undefined;
    line.say({ kind: "call", address, request });
    return {
      cancel: () => {
        end();
        line.say({ kind: "cancel" });
      },
      resume: () => isFull && sayHeard(),
    };
  }

  #receive(first: CallMessage, line: ThreadLine<CallMessage>): LineListener<CallMessage> {
    let unheard = 0;
    const sayLast = (message: CallMessage) => {
      line.say(message);
      line.hangUp();
    };
    const call =
      first.kind === "call" && this.gateway !== undefined
        ? this.#serve(this.gateway, first.address, first.request, {
            onMessage: (text) => {
              line.say({ kind: "message", text });
              return ++unheard < MAX_UNHEARD;
            },
            onResponse: (text) => sayLast({ kind: "response", text }),
            onFailure: (text) => sayLast({ kind: "failure", text }),
            onGone: () => sayLast({ kind: "gone" }),
          })
        : undefined;
    if (call === undefined) sayLast({ kind: "gone" });
    return {
      onMessage: (message) => {
        if (message.kind === "cancel") {
          line.hangUp();
          call?.cancel();
        } else if (message.kind === "heard") {
          const wasFull = unheard >= MAX_UNHEARD;
          unheard -= message.count;
          if (wasFull && unheard < MAX_UNHEARD) call?.resume();
        }
      },
      onLost: () => call?.cancel(),
    };
  }
}
