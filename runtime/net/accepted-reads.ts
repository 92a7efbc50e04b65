import { Socket } from "node:net";

/** Takes what was read: so many bytes, at the beginning of the memory. False: nothing more is read until the socket is resumed. */
export type ReadCallback = (length: number) => boolean;

/**
 * Reads a socket that a server has accepted into memory of the caller's from now on, as `onread` of node:net does for sockets
 * that are opened: without it each read takes and gives back 64 KB, which costs more than to read a request. Node has that
 * for opened sockets alone, though what it does then is the same for both; so this does it. False: this Node does it in
 * another way, and the socket goes on with `data` events.
 */
export function readInto(socket: Socket, memory: Buffer, callback: ReadCallback): boolean {
  const places = knownPlaces();
  const handle: unknown = Reflect.get(socket, "_handle");
  if (places === undefined || !isReader(handle)) return false;
  Reflect.set(socket, places.memory, memory);
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

/** Where a socket has its memory and its callback; undefined: not where they were found before. */
const knownPlaces = atFirstUse(findPlaces);

/** Gives what is made when it is asked for first: a module that is loaded makes no socket. */
function atFirstUse<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function findPlaces(): { readonly memory: symbol; readonly callback: symbol } | undefined {
  const memory = Buffer.alloc(1);
  const callback = () => true;
  const socket = new Socket({ onread: { buffer: memory, callback } });
  const placeOf = (value: unknown) =>
    Object.getOwnPropertySymbols(socket).find((symbol) => Reflect.get(socket, symbol) === value);
  const [memoryAt, callbackAt] = [placeOf(memory), placeOf(callback)];
  if (memoryAt === undefined || callbackAt === undefined) return undefined;
  return { memory: memoryAt, callback: callbackAt };
}
