import type { MessagePort } from "node:worker_threads";
import type { CallHandle, CallListener, GoOn, WaitingCalls } from "./gateway-context.ts";
import { type LineListener, type ThreadLine, ThreadLinks } from "./thread-links.ts";

/** What two threads say about a call. */
type CallMessage =
  /** The client of the call that waits under this id has come back, with this request. */
  | { readonly kind: "goOn"; readonly id: string; readonly request: string }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "response"; readonly text: string }
  | { readonly kind: "failure"; readonly text: string }
  /** No call waits under the id. */
  | { readonly kind: "gone" }
  /** So many messages are with the client. */
  | { readonly kind: "heard"; readonly count: number }
  | { readonly kind: "cancel" };

/** Messages on the way to a client at most. */
const mostUnheard = 16;

/** The calls that wait in the threads of a process, as one of them reaches those of the others. */
export class ThreadCalls implements WaitingCalls {
  readonly #links = new ThreadLinks<CallMessage>((first, line) => this.#receive(first, line));
  #goOn: GoOn | undefined;

  /** `port` leads to the thread of this index from now on. */
  link(index: number, port: MessagePort): void {
    this.#links.add(index, port);
  }

  serve(goOn: GoOn): void {
    this.#goOn = goOn;
  }

  goOn(
    thread: number,
    id: string,
    request: string,
    listener: CallListener,
  ): CallHandle | undefined {
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
    line.say({ kind: "goOn", id, request });
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
      first.kind === "goOn"
        ? this.#goOn?.(first.id, first.request, {
            onMessage: (text) => {
              line.say({ kind: "message", text });
              return ++unheard < mostUnheard;
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
          const wasFull = unheard >= mostUnheard;
          unheard -= message.count;
          if (wasFull && unheard < mostUnheard) call?.resume();
        }
      },
      onLost: () => call?.cancel(),
    };
  }
}
