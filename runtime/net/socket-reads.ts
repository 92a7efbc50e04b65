import { Socket } from "node:net";
import { Readable } from "node:stream";
import { copyOf } from "../process/bytes.ts";

/** The most bytes of one read: more no longer makes up for what the processor's cache forgets meanwhile. */
const MAX_READ = 262_144;

/** A read of so many bytes is a part of something long, of which more is to come. */
export const LONG_READ = 8192;

/** The most pieces of memory that wait for another connection. */
const MAX_FREE = 16;

/** Who is given what was read, to pass it on. */
export interface Borrower {
  /** Nobody holds bytes of what it was given: all of them have left the process. Absent: they may be held. */
  readonly holdsNothing?: boolean;
}

/** Who takes what a connection reads. */
export interface ReadTaker {
  /** Takes bytes that are another's when it is over: it copies what it keeps. */
  take(bytes: Buffer): void;
  /** Whoever is given at once, without a copy, what comes now; undefined: nobody. */
  readonly borrower: Borrower | undefined;
  /** Takes bytes that are the borrower's until it holds nothing. False: some of them are kept beside it. */
  lend(bytes: Buffer): boolean;
}

/** The memory that the connections of a pool, or of a port, are read into. */
export class ReadMemory {
  /** Of all connections: what is read into it is copied at once. Nothing waits in it for its next message. */
  readonly shared: Buffer;
  readonly #free: Buffer[] = [];

  /** `size`: the bytes of what all connections share. */
  constructor(size: number) {
    this.shared = Buffer.allocUnsafeSlow(size);
  }

  /** A piece for one connection alone. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(MAX_READ);
  }

  /** Takes a piece back that nobody holds and no connection reads into. */
  give(piece: Buffer): void {
    if (this.#free.length < MAX_FREE) this.#free.push(piece);
  }
}

/**
 * Reads a socket. Node gives each read new memory of 64 KB, and clearing that away costs more than a long body's way
 * through the process: here memory is used again as soon as what was read has left. A short read is copied, and so is the
 * first one of something long.
 */
export class SocketReads {
  readonly #socket: Socket;
  readonly #memory: ReadMemory;
  #taker: ReadTaker;
  /** What the socket reads into, and what it will when this read was taken. */
  #current: Buffer;
  #next: Buffer;
  /** What has not left the process when the read was over. */
  #lent: { readonly piece: Buffer; readonly borrower: Borrower } | undefined;
  #isOver = false;

  /** The socket may still give bytes as `data`: those that were read before. */
  constructor(socket: Socket, memory: ReadMemory, taker: ReadTaker) {
    this.#socket = socket;
    this.#memory = memory;
    this.#taker = taker;
    this.#current = memory.shared;
    this.#next = memory.shared;
    const buffer = () => {
      this.#current = this.#next;
      return this.#current;
    };
    readInto(socket, { buffer, callback: (length) => this.#read(length) });
  }

  /** What comes from now on is no longer its taker's: the socket gives it as `data`. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * The connection has closed: nothing that took from it stays with its socket. Node's streams write one of their own
   * functions so that V8 takes it, and all that the socket leads to, for old from the beginning: it is only cleared away
   * with the whole heap.
   */
  close(): void {
    this.#taker = nobody;
    this.#socket.removeAllListeners();
    this.#socket.on("error", ignoreError);
  }

  /** False: nothing more is read for now. */
  #read(length: number): boolean {
    const socket = this.#socket;
    const bytes = this.#current.subarray(0, length);
    const own = this.#current === this.#memory.shared ? undefined : this.#current;
    this.#takeBack();
    // What comes to a paused socket waits there, and before what comes behind it.
    if (this.#isOver || socket.isPaused() || socket.readableLength > 0) {
      this.#goOn(own, false);
      return socket.push(copyOf(bytes));
    }
    const isFree = this.#give(bytes, own);
    this.#goOn(isFree ? own : undefined, length >= LONG_READ);
    return true;
  }

  /** False: the memory is held. */
  #give(bytes: Buffer, own: Buffer | undefined): boolean {
    const taker = this.#taker;
    const { borrower } = taker;
    if (own === undefined || borrower?.holdsNothing !== true) {
      taker.take(bytes);
      return true;
    }
    if (!taker.lend(bytes)) return false;
    if (borrower.holdsNothing) return true;
    this.#lent = { piece: own, borrower };
    return false;
  }

  /** A connection has memory of its own only while something long comes in and goes on as fast. */
  #goOn(own: Buffer | undefined, isLong: boolean): void {
    if (isLong && this.#taker.borrower?.holdsNothing === true) {
      this.#next = own ?? this.#memory.take();
      return;
    }
    this.#next = this.#memory.shared;
    if (own !== undefined) this.#memory.give(own);
  }

  #takeBack(): void {
    if (this.#lent?.borrower.holdsNothing !== true) return;
    this.#memory.give(this.#lent.piece);
    this.#lent = undefined;
  }
}

const nobody: ReadTaker = { take: () => {}, borrower: undefined, lend: () => true };

/** What a socket is read into. */
export interface Reads {
  /** The memory of the next read: asked for at once, and behind each read. */
  readonly buffer: () => Buffer;
  /** Takes what was read: so many bytes, at the beginning of the memory. False: nothing more is read until the socket is resumed. */
  readonly callback: (length: number) => boolean;
}

/**
 * Reads a socket that is there already into memory of the caller's from now on, as `onread` of node:net does for sockets that
 * are yet to be opened: without it each read takes and gives back 64 KB, which costs more than to read a request. Accepted
 * sockets can't have that of Node, though what it does then is the same for all; so this does it. False: this Node does it
 * in another way, and the socket goes on with `data` events.
 */
export function readInto(socket: Socket, { buffer, callback }: Reads): boolean {
  places ??= findPlaces();
  const handle: unknown = Reflect.get(socket, "_handle");
  if (places === false || !isReader(handle)) return false;
  const memory = buffer();
  Reflect.set(socket, places.memory, memory);
  Reflect.set(socket, places.buffer, buffer);
  Reflect.set(socket, places.callback, callback);
  handle.useUserBuffer(memory);
  return true;
}

/** What reads a socket below Node's streams. */
interface Reader {
  useUserBuffer(memory: Buffer): void;
}

function isReader(handle: unknown): handle is Reader {
  return (
    typeof handle === "object" &&
    handle !== null &&
    "useUserBuffer" in handle &&
    typeof handle.useUserBuffer === "function"
  );
}

/** What `findPlaces` found at the first use: a module that is loaded makes no socket. */
let places: ReturnType<typeof findPlaces> | undefined;

/** Where a socket has its memory, what gives the next one, and its callback; false: not where they were found before. */
function findPlaces() {
  const given = Buffer.alloc(1);
  const asked = () => given;
  const called = () => true;
  const memory = placeOf(given, new Socket({ onread: { buffer: given, callback: called } }));
  const asking = new Socket({ onread: { buffer: asked, callback: called } });
  const [buffer, callback] = [placeOf(asked, asking), placeOf(called, asking)];
  if (memory === undefined || buffer === undefined || callback === undefined) return false;
  return { memory, buffer, callback };
}

function placeOf(value: unknown, socket: Socket): symbol | undefined {
  return Object.getOwnPropertySymbols(socket).find(
    (symbol) => Reflect.get(socket, symbol) === value,
  );
}

/**
 * Lets nobody have what a socket reads until it is resumed. It goes on reading for a while, unlike `socket.pause()` where it
 * reads into memory that it was given: the end of the connection is seen meanwhile.
 */
export function pauseReads(socket: Socket): void {
  Readable.prototype.pause.call(socket);
}

/** Listens to the errors of a socket whose end is seen to elsewhere: without a listener they would end the process. */
export function ignoreError(): void {}
