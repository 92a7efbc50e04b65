import { Socket } from "node:net";

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
