import { Socket } from "node:net";
import { Readable } from "node:stream";
import { copyOf } from "../process/bytes.ts";
import type { KeepAlive } from "./connection-settings.ts";

/** Maximum bytes of one read. Larger reads lose more to misses of the processor's cache than they save. */
const MAX_READ = 262_144;

/** A read of at least so many bytes is a part of a long body with more to come. */
export const LONG_READ = 8192;

/** Maximum bytes of one read for a receiver that sends later. It pauses after a long one. */
const LATE_READ = 131_072;
/** Maximum number of pieces of memory that are lent to it: reads may be short. */
const MAX_LENT = 3;

/** Maximum number of free pieces of memory of one size that wait for a connection. */
const MAX_FREE = 16;

/** A receiver of lent bytes that forwards them. */
export interface Borrower {
  /** Whether all bytes that it was lent have left the process. If absent, some may be held. */
  readonly holdsNothing?: boolean;
  /** Whether bytes leave soon after the call, as with TLS, and `holdsNothing` is true then. If absent, they leave at once or late. */
  readonly sendsLater?: boolean;
  /** Whether it copies what it keeps of pieces with at most `ONE_PIECE` bytes. If absent, it may keep the bytes themselves. */
  readonly copiesPieces?: boolean;
}

/** A receiver of what a connection reads. */
export interface ReadTaker {
  /** Takes bytes that are valid during the call only; it copies what it keeps. */
  take(bytes: Buffer): void;
  /** Receives the current bytes without a copy; `undefined` if nothing does. */
  readonly borrower: Borrower | undefined;
  /** Takes bytes that are valid until the borrower holds nothing. Returns false if some of them are kept elsewhere. */
  lend(bytes: Buffer): boolean;
}

/** The memory into which connections of a pool or a port are read. */
export class ReadMemory {
  /** Shared by all connections: what is read into it is copied at once, and nothing waits in it. */
  readonly shared: Buffer;
  readonly #free = new Map<number, Buffer[]>();

  /** `size`: bytes of the shared memory. */
  constructor(size: number) {
    this.shared = Buffer.allocUnsafeSlow(size);
  }

  /** Takes a piece for one connection. */
  take(size: number): Buffer {
    return this.#free.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size);
  }

  /** Returns a piece that nothing holds and no connection reads into. */
  give(piece: Buffer): void {
    const free = this.#free.get(piece.length);
    if (free === undefined) this.#free.set(piece.length, [piece]);
    else if (free.length < MAX_FREE) free.push(piece);
  }
}

/**
 * Reads a socket. Node allocates 64 KB for each read, and freeing that costs more than forwarding a long body: here memory is
 * reused as soon as its bytes have left. A short read is copied, and so is the first one of a long body.
 */
export class SocketReads {
  readonly #socket: Socket;
  readonly #memory: ReadMemory;
  #taker: ReadTaker;
  /** Memory that the socket reads into, and will read into after this read was taken. */
  #current: Buffer;
  #next: Buffer;
  /** Memory whose bytes had not left the process when the read was over, and who has it. */
  readonly #lent: Buffer[] = [];
  #borrower: Borrower | undefined;
  #isOver = false;

  /** The socket may still emit `data`: bytes that were read before. */
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

  /** Stops: further bytes are emitted by the socket as `data`. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Drops all references after the connection has closed. Node's streams assign one of their own functions in a way that makes
   * V8 treat it, and everything reachable from the socket, as old: it would only be freed by a full garbage collection.
   */
  close(): void {
    this.#taker = nobody;
    this.#socket.removeAllListeners();
    this.#socket.on("error", ignoreError);
  }

  /** Returns false if reading pauses. */
  #read(length: number): boolean {
    const socket = this.#socket;
    const bytes = this.#current.subarray(0, length);
    const own = this.#current === this.#memory.shared ? undefined : this.#current;
    this.#takeBack();
    // Bytes for a paused socket wait in it, and must stay ahead of later ones.
    if (this.#isOver || socket.isPaused() || socket.readableLength > 0) {
      this.#chooseMemory(own, false);
      return socket.push(copyOf(bytes));
    }
    const isFree = this.#give(bytes, own);
    this.#chooseMemory(isFree ? own : undefined, length >= LONG_READ);
    // Its pauses are short, and reading on would copy.
    return !socket.isPaused() || this.#taker.borrower?.sendsLater !== true;
  }

  /** Returns false if the memory is held. */
  #give(bytes: Buffer, own: Buffer | undefined): boolean {
    const taker = this.#taker;
    const borrower = own === undefined ? undefined : taker.borrower;
    if (own === undefined || !this.#mayLend(borrower)) {
      taker.take(bytes);
      return true;
    }
    if (!taker.lend(bytes)) return false;
    if (borrower.holdsNothing) return true;
    this.#lent.push(own);
    this.#borrower = borrower;
    return false;
  }

  /** Whether the bytes of the next read can be lent. */
  #mayLend(borrower: Borrower | undefined): borrower is Borrower {
    if (borrower === undefined) return false;
    if (this.#lent.length > 0 && this.#borrower !== borrower) return false;
    if (borrower.sendsLater === true) return this.#lent.length < MAX_LENT;
    return this.#lent.length === 0 && borrower.holdsNothing === true;
  }

  /** Gives a connection memory of its own only while a long body arrives and leaves equally fast. */
  #chooseMemory(own: Buffer | undefined, isLong: boolean): void {
    const borrower = isLong ? this.#taker.borrower : undefined;
    if (this.#mayLend(borrower)) {
      const size = borrower.sendsLater === true ? LATE_READ : MAX_READ;
      if (own?.length === size) this.#next = own;
      else {
        this.#next = this.#memory.take(size);
        if (own !== undefined) this.#memory.give(own);
      }
      return;
    }
    this.#next = this.#memory.shared;
    if (own !== undefined) this.#memory.give(own);
  }

  #takeBack(): void {
    if (this.#lent.length === 0 || this.#borrower?.holdsNothing !== true) return;
    for (const piece of this.#lent) this.#memory.give(piece);
    this.#lent.length = 0;
    this.#borrower = undefined;
  }
}

const nobody: ReadTaker = { take: () => {}, borrower: undefined, lend: () => true };

/** Memory and callback for the reads of a socket. */
export interface Reads {
  /** Returns the memory of the next read; called at once, and after each read. */
  readonly buffer: () => Buffer;
  /** Takes the bytes of a read, at the start of the memory. Returns false if reading pauses until the socket is resumed. */
  readonly callback: (length: number) => boolean;
}

/**
 * Makes an open socket read into memory of the caller, as `onread` of node:net does for sockets that are not open yet. Without
 * it, each read allocates and frees 64 KB, which costs more than parsing a request. Node has no interface for accepted sockets
 * although it treats both alike, so this uses internals. Returns false if they differ in this version of Node: the socket then
 * emits `data` events.
 */
function readInto(socket: Socket, { buffer, callback }: Reads): boolean {
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

/** Node's reader below a socket's stream. */
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

/** Result of `findPlaces`, found at the first use, because loading a module must not create a socket. */
let places: ReturnType<typeof findPlaces> | undefined;

/**
 * Finds the internals of a socket: its memory, its allocator and its callback. Returns false if they are not where they were in
 * known versions.
 */
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
 * Pauses the events of a socket until it is resumed. Unlike `socket.pause()` on a socket that reads into given memory, reading
 * continues for a while, so the end of the connection is noticed.
 */
export function pauseReads(socket: Socket): void {
  Readable.prototype.pause.call(socket);
}

/** Ignores errors of a socket whose end is handled elsewhere. Without a listener they would end the process. */
export function ignoreError(): void {}

/** Sets TCP keepalive of a connection; `false` leaves it off, as sockets start. */
export function setKeepAlive(socket: Socket, settings: KeepAlive): void {
  if (settings === false) return;
  const { time, interval, retries } = settings;
  socket.setKeepAlive(true, time, interval, retries);
}
