import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { pythonFor } from "../harness/python.ts";
import { TestProcess } from "../harness/test-process.ts";

const run = promisify(execFile);

/** A server of demo.Echo on grpcio, gRPC's own implementation in C. */
export interface EchoService {
  readonly port: number;
  readonly host: string;
  /** Resolves when the call `wait for me` has come. */
  waiting(): Promise<unknown>;
  /** Resolves when it was cancelled. */
  cancelled(): Promise<unknown>;
}

/** Starts one. */
export async function startEcho(): Promise<EchoService> {
  const running = new TestProcess(await pythonFor("tests"), [
    path.join(import.meta.dirname, "echo-service.py"),
    "0",
  ]);
  const port = Number((await running.seen(/^port (\d+)$/m))[1]);
  return {
    port,
    host: `127.0.0.1:${port}`,
    waiting: () => running.seen(/^waiting: wait for me$/m),
    cancelled: () => running.seen(/^cancelled: wait for me$/m),
  };
}

/** A call's end that is no success: its status and what it says. */
type Refusal = readonly [status: string, details: string];

/** Results of grpcio's client for each kind of call (echo-client.py). */
export interface ClientReport {
  readonly unary: readonly [length: number, trailers: Readonly<Record<string, string>>];
  readonly large: number;
  readonly refused: Refusal;
  readonly count: number;
  readonly join: string;
  readonly both: readonly string[];
  readonly forbidden: Refusal;
  readonly unknown: Refusal;
}

/** Makes the calls. */
export async function callEcho(port: number): Promise<ClientReport> {
  const script = path.join(import.meta.dirname, "echo-client.py");
  const { stdout } = await run(await pythonFor("tests"), [script, `127.0.0.1:${port}`]);
  return JSON.parse(stdout);
}
