import type { Writable } from "node:stream";

/** Writes a piece again and again, as fast as the other side takes it, until the connection is gone. */
export function writeEndlessly(target: Writable, piece: string | Uint8Array): void {
  const more = () => {
    while (!target.destroyed && target.write(piece));
  };
  target.on("drain", more);
  more();
}
