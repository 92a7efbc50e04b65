import type { MessagePort, Transferable } from "node:worker_threads";

/** One end of what two threads say to each other about one thing. */
export interface ThreadLine<Message> {
  /** `moved`: memory that is given away with it. */
  say(message: Message, moved?: readonly Transferable[]): void;
  /** Nothing more is heard. */
  hangUp(): void;
}

/** Who hears what is said at the other end. */
export interface LineListener<Message> {
  onMessage(message: Message): void;
  /** The other thread has ended. */
  onLost(): void;
}

/** Takes a line that another thread has opened. */
export type LineTaker<Message> = (
  first: Message,
  line: ThreadLine<Message>,
) => LineListener<Message>;

/** What goes over the port of two threads. */
interface Envelope<Message> {
  /** Counted by the thread that has opened it; below zero: said by the other one. */
  readonly line: number;
  readonly isFirst: boolean;
  readonly message: Message;
}

/** The ways of a thread to the others of its process. */
export class ThreadLinks<Message> {
  readonly #take: LineTaker<Message>;
  readonly #links = new Map<number, Link<Message>>();

  constructor(take: LineTaker<Message>) {
    this.#take = take;
  }

  /** `port` leads to the thread of this index from now on. */
  add(index: number, port: MessagePort): void {
    const link = new Link(port, this.#take);
    this.#links.set(index, link);
    port.on("close", () => {
      if (this.#links.get(index) === link) this.#links.delete(index);
      link.lose();
    });
  }

  /** False: there is no such thread, or it does not serve now. */
  reaches(index: number): boolean {
    return this.#links.has(index);
  }

  /** Undefined: it is not reached. */
  open(index: number, listener: LineListener<Message>): ThreadLine<Message> | undefined {
    return this.#links.get(index)?.open(listener);
  }
}

/** The way to one of them. */
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
    // What was said at once may have been all.
    if (this.#listeners.has(line)) this.#listeners.set(line, listener);
  }

  #line(line: number, isOpener: boolean): ThreadLine<Message> {
    let isFirst = isOpener;
    return {
      say: (message, moved = []) => {
        const envelope: Envelope<Message> = { line, isFirst, message };
        isFirst = false;
        this.#port.postMessage(envelope, moved);
      },
      hangUp: () => this.#listeners.delete(line),
    };
  }
}

/** Whoever hears nothing yet. */
const silent: LineListener<unknown> = { onMessage: () => {}, onLost: () => {} };
