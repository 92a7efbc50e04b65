import type { OnReadOpts, Socket } from "node:net";
import { copyOf } from "../../body/copy-of.ts";

/** The most bytes of one read: more no longer makes up for what the processor's cache forgets meanwhile. */
const mostRead = 131_072;

/** A read of so many bytes is a part of something long, of which more is to come. */
const longRead = 16_384;

/** The most pieces of memory that wait for another connection. */
const mostFree = 16;

/** Who takes what a connection reads. */
export interface ReadTaker {
  /** Takes bytes that are its own from now on. */
  take(bytes: Buffer): void;
  /** Whether it would pass on at once what comes now: bytes can be lent to it. */
  readonly canBorrow: boolean;
  /** Takes bytes that are lent. True: nobody holds them any more, and others may be read in their place. */
  borrow(bytes: Buffer): boolean;
}

/** The memory that the connections of a pool are read into. */
export class ReadMemory {
  /** Of all connections: what is read into it is copied at once. Nothing waits in it for its next message. */
  readonly shared: Buffer = Buffer.allocUnsafeSlow(mostRead);
  readonly #free: Buffer[] = [];

  /** A piece for one connection alone. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(mostRead);
  }

  /** Takes a piece back that nobody holds and no connection reads into. */
  give(piece: Buffer): void {
    if (this.#free.length < mostFree) this.#free.push(piece);
  }
}

/**
 * What a socket is read into. Node gives each read new memory of 64 KB, and clearing that away costs more than a long
 * body's way through the process: here memory is used again as soon as what was read has left. A short read is copied.
 */
export class SocketReads {
  /** For the socket that is to be opened. */
  readonly options: OnReadOpts;
  readonly #memory: ReadMemory;
  #socket: Socket | undefined;
  #taker: ReadTaker | undefined;
  /** What the socket reads into, and what it will when this read was taken. */
  #current: Buffer;
  #next: Buffer;

  constructor(memory: ReadMemory) {
    this.#memory = memory;
    this.#current = memory.shared;
    this.#next = memory.shared;
    this.options = {
      // Asked when the socket is made, and behind each read.
      buffer: () => {
        this.#current = this.#next;
        return this.#current;
      },
      callback: (length) => this.#read(length),
    };
  }

  /** The socket, when it is open, and whoever takes what is read from then on. */
  giveTo(taker: ReadTaker, socket: Socket): void {
    this.#socket = socket;
    this.#taker = taker;
  }

  /** False: nothing more is read for now. */
  #read(length: number): boolean {
    const [socket, taker] = [this.#socket, this.#taker];
    if (socket === undefined || taker === undefined) return false;
    // What comes to a paused socket waits there, and before what comes behind it.
    if (socket.isPaused() || socket.readableLength > 0) {
      return socket.push(copyOf(this.#current.subarray(0, length)));
    }
    this.#take(taker, length);
    return true;
  }

  #take(taker: ReadTaker, length: number): void {
    const { shared } = this.#memory;
    let own = this.#current === shared ? undefined : this.#current;
    if (own === undefined || !taker.canBorrow)
      taker.take(copyOf(this.#current.subarray(0, length)));
    else if (!taker.borrow(own.subarray(0, length))) own = undefined;
    // A connection has memory of its own only while something long comes in.
    const isLong = length >= longRead && taker.canBorrow;
    if (isLong) this.#next = own ?? this.#memory.take();
    else {
      this.#next = shared;
      if (own !== undefined) this.#memory.give(own);
    }
  }
}
