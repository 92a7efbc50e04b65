import {
  type CustomPolicy,
  countCall,
  hookOutcome,
  runHook,
} from "../policies/custom/custom-policy.ts";
import { MadeRefusal } from "../policies/custom/made-refusal.ts";
import { hookErrorText } from "../policies/custom/policy-lines.ts";
import { inTime } from "../policies/custom.ts";
import type { PolicyConnection, PolicyRefusal } from "../policy/policy.ts";
import { type Connection, refuseConnection } from "./connection.ts";

/** Maximum number of bytes that a policy reads. */
const MAX_BYTES = 16_384;

/** Reads the first bytes that a client sends, which are forwarded afterwards. */
class FirstBytes {
  readonly #connection: Connection;
  #last: Promise<unknown> = Promise.resolve();
  #stop: (() => void) | undefined;
  #isClosed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Resolves with so many bytes, or with fewer if the client has sent its last one. */
  async read(count: number): Promise<Uint8Array<ArrayBuffer>> {
    if (!Number.isInteger(count) || count < 1 || count > MAX_BYTES)
      throw new RangeError(`firstBytes reads from 1 to ${MAX_BYTES} bytes`);
    const read = this.#last.then(() => this.#receive(count));
    this.#last = read;
    await read;
    return new Uint8Array(Buffer.concat(this.#connection.first).subarray(0, count));
  }

  /** Leaves all further bytes to others. */
  close(): void {
    this.#isClosed = true;
    this.#stop?.();
  }

  #receive(count: number): Promise<void> {
    const connection = this.#connection;
    const { socket } = connection;
    const isComplete = () =>
      connection.first.reduce((sum, { length }) => sum + length, 0) >= count ||
      socket.readableEnded ||
      socket.destroyed;
    if (this.#isClosed) throw new TypeError("firstBytes reads nothing after its hook has ended");
    if (isComplete()) return Promise.resolve();
    return new Promise((resolve) => {
      const take = (bytes: Buffer) => {
        connection.first = [...connection.first, bytes];
        if (isComplete()) stop();
      };
      const stop = () => {
        this.#stop = undefined;
        socket.off("data", take).off("end", stop).off("close", stop).pause();
        resolve();
      };
      this.#stop = stop;
      socket.on("data", take).on("end", stop).on("close", stop).resume();
    });
  }
}

const HOOK = "connect";

/** Runs the `connect` hook of a policy that is not async. Returns false if the connection was refused. */
export function applyConnect(connection: Connection, policy: CustomPolicy): boolean {
  const first = new FirstBytes(connection);
  try {
    return settle(connection, policy, call(connection, policy, first));
  } catch (error) {
    return failed(connection, policy, error);
  } finally {
    first.close();
  }
}

/** Runs the `connect` hook of a policy that is async, within its deadline. Resolves with false if it was refused. */
export async function awaitConnect(connection: Connection, policy: CustomPolicy): Promise<boolean> {
  const first = new FirstBytes(connection);
  try {
    const result = await inTime(Promise.resolve(call(connection, policy, first)), policy.deadline);
    return !connection.socket.destroyed && settle(connection, policy, result);
  } catch (error) {
    return failed(connection, policy, error);
  } finally {
    first.close();
  }
}

/** A connection as a custom policy sees it. */
class ConnectionView implements PolicyConnection {
  readonly clientAddress: string;
  readonly clientPort: number;
  readonly serverName: string | null;
  readonly firstBytes: PolicyConnection["firstBytes"];

  constructor({ remoteAddress, remotePort, serverName }: Connection, first: FirstBytes) {
    const read: PolicyConnection["firstBytes"] = (count) => first.read(count);
    this.firstBytes = read;
    this.clientAddress = remoteAddress;
    this.clientPort = remotePort;
    this.serverName = serverName ?? null;
  }

  refuse(message: string): PolicyRefusal {
    return new MadeRefusal(403, message, {});
  }
}

function call(
  connection: Connection,
  { name, definition, options }: CustomPolicy,
  first: FirstBytes,
): unknown {
  return runHook(connection, name, HOOK, () =>
    definition.connect?.(new ConnectionView(connection, first), options),
  );
}

function settle(connection: Connection, policy: CustomPolicy, result: unknown): boolean {
  if (MadeRefusal.isMade(result)) {
    countCall(connection, policy, HOOK, "refused");
    refuseConnection(connection, "Custom", `${policy.name}: ${result.message}`);
    return false;
  }
  if (result instanceof Promise) {
    result.catch(() => {});
    throw new TypeError("a hook that returns a promise must be declared async");
  }
  if (result !== undefined) throw new TypeError("connect returned something other than a refusal");
  countCall(connection, policy, HOOK, "ok");
  return true;
}

function failed(connection: Connection, policy: CustomPolicy, error: unknown): boolean {
  countCall(connection, policy, HOOK, hookOutcome(error));
  const text = `${policy.name}: ${HOOK}: ${hookErrorText(error)}`;
  if (policy.passesOnFailure) {
    connection.record.error = text;
    return true;
  }
  refuseConnection(connection, "Custom", text);
  return false;
}
