import type { MessagePort, Transferable } from "node:worker_threads";

/** One end of a conversation between two threads. */
export interface ThreadLine<Message> {
  /** Sends a message. `moved`: memory that is transferred with it. */
  send(message: Message, moved?: readonly Transferable[]): void;
  /** Stops receiving. */
  hangUp(): void;
}

/** Receives messages of the other end. */
export interface LineListener<Message> {
  onMessage(message: Message): void;
  /** The other thread has ended. */
  onLost(): void;
}

/** Accepts a line that another thread has opened. */
export type LineTaker<Message> = (
  first: Message,
  line: ThreadLine<Message>,
) => LineListener<Message>;

/** A message on the port between two threads. */
interface Envelope<Message> {
  /** Number given by the thread that opened the line; negative if the other thread sends. */
  readonly line: number;
  readonly isFirst: boolean;
  readonly message: Message;
}

/** Lines between this thread and the others of its process. */
export class ThreadLinks<Message> {
  readonly #take: LineTaker<Message>;
  readonly #links = new Map<number, Link<Message>>();

  constructor(take: LineTaker<Message>) {
    this.#take = take;
  }

  /** Connects to the thread of this index through `port`. */
  add(index: number, port: MessagePort): void {
    const link = new Link(port, this.#take);
    this.#links.set(index, link);
    port.on("close", () => {
      if (this.#links.get(index) === link) this.#links.delete(index);
      link.lose();
    });
  }

  /** Returns false if there is no such thread, or if it does not serve now. */
  reaches(index: number): boolean {
    return this.#links.has(index);
  }

  /** Opens a line. Returns `undefined` if the thread is not reachable. */
  open(index: number, listener: LineListener<Message>): ThreadLine<Message> | undefined {
    return this.#links.get(index)?.open(listener);
  }
}

/** The lines to one thread. */
class Link<Message> {
  readonly #port: MessagePort;
  readonly #listeners = new Map<number, LineListener<Message>>();
  #opened = 0;

  constructor(port: MessagePort, take: LineTaker<Message>) {
    this.#port = port;
    port.on("message", ({ line, isFirst, message }: Envelope<Message>) => {
      if (isFirst) this.#take(-line, message, take);
      else this.#listeners.get(-line)?.onMessage(message);
    });
  }

  open(listener: LineListener<Message>): ThreadLine<Message> {
    const line = ++this.#opened;
    this.#listeners.set(line, listener);
    return this.#line(line, true);
  }

  lose(): void {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener.onLost();
  }

  #take(line: number, first: Message, take: LineTaker<Message>): void {
    this.#listeners.set(line, silent);
    const listener = take(first, this.#line(line, false));
    // The listener may have hung up at once.
    if (this.#listeners.has(line)) this.#listeners.set(line, listener);
  }

  #line(line: number, isOpener: boolean): ThreadLine<Message> {
    let isFirst = isOpener;
    return {
      send: (message, moved = []) => {
        const envelope: Envelope<Message> = { line, isFirst, message };
        isFirst = false;
        this.#port.postMessage(envelope, moved);
      },
      hangUp: () => this.#listeners.delete(line),
    };
  }
}

/** Listener until the taker of the line has returned its own. */
const silent: LineListener<unknown> = { onMessage: () => {}, onLost: () => {} };
