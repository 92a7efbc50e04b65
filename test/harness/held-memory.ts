import type { TestProcess } from "./test-process.ts";

/** Reads after a collection of garbage: what is left is held by something. Buffers and what HTTP/2 keeps are external. */
const HELD = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

/**
 * Megabytes that a gateway holds, without what only waits to be collected: how much of that there is depends on how busy
 * the machine is. The gateway's own inspector tells (SIGUSR1 opens it).
 */
export async function heldMegabytes(process: TestProcess): Promise<number> {
  process.signal("SIGUSR1");
  const [, url = ""] = await process.seen(/Debugger listening on (ws:\S+)/);
  return heldMegabytesAt(url);
}

/** Returns the same, for the process whose inspector has this address. */
export async function heldMegabytesAt(url: string): Promise<number> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  await call(socket, "HeapProfiler.collectGarbage", {});
  const bytes = await call(socket, "Runtime.evaluate", { expression: HELD });
  socket.close();
  return Number(bytes) / 1_000_000;
}

/** The value that a call of the inspector's protocol gives, where it gives one. */
async function call(socket: WebSocket, method: string, params: object): Promise<unknown> {
  const response = new Promise<unknown>((resolve) => {
    socket.onmessage = ({ data }) => resolve(JSON.parse(data).result?.result?.value);
  });
  socket.send(JSON.stringify({ id: 1, method, params }));
  return response;
}
