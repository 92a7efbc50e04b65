import type { Socket } from "node:net";
import { type ClientHello, ClientHelloReader } from "./client-hello.ts";

/** A hello that was read, with all the bytes that came with it; or why there is none. */
export type ReceivedHello =
  | { readonly kind: "hello"; readonly serverName: string | undefined; readonly bytes: Buffer[] }
  | { readonly kind: "none"; readonly why: string; readonly isEnvTemplate: boolean };

/** Waits for the ClientHello of a connection; `then` is called once, unless the client leaves. */
export function receiveHello(
  socket: Socket,
  patience: number,
  then: (hello: ReceivedHello) => void,
): void {
  const reader = new ClientHelloReader();
  const bytes: Buffer[] = [];
  const stop = () => {
    clearTimeout(timer);
    socket.off("data", take);
    socket.off("end", give);
    socket.off("close", stop);
    socket.pause();
  };
  const settle = (hello: ReceivedHello) => {
    stop();
    then(hello);
  };
  const give = () => settle({ kind: "none", why: "the client left", isEnvTemplate: false });
  const take = (chunk: Buffer) => {
    bytes.push(chunk);
    const found: ClientHello = reader.read(chunk);
    if (found.kind === "malformed") settle({ kind: "none", why: found.why, isEnvTemplate: false });
    if (found.kind === "hello") {
      settle({ kind: "hello", serverName: found.serverName, bytes });
    }
  };
  const timer = setTimeout(() => {
    settle({ kind: "none", why: "no ClientHello in time", isEnvTemplate: true });
  }, patience);
  socket.on("data", take);
  socket.on("end", give);
  socket.on("close", stop);
  socket.resume();
}
