import { fileURLToPath } from "node:url";
import { fragileThreads } from "../harness/fragile-threads.ts";
import type { Gateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import type { RouteConfig } from "./gateway-config.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { initialize, openSession, post, send } from "./raw-client.ts";

/** Number of threads of these gateways. */
export const threads = 3;

/** So many connections reach every thread: the kernel chooses, and missing one of three is less likely than a lost packet. */
export const many = Array.from({ length: 40 }, (_, index) => index);

const script = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));

/** A server that the session's thread runs as a child. */
export const child = { name: "child", stdio: { cmd: process.execPath, args: [script] } };

/** Starts a gateway with several threads, which `breakDown` can end. */
export async function startThreads(
  routes: readonly RouteConfig[],
  env: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const gateway = await startMcpGateway(routes, env, fragileThreads(threads));
  await gateway.seen(/3 threads serve/);
  return gateway;
}

/** The headers that name a session. */
export type Session = Readonly<Record<string, string>>;

/** The unusual parts of a request. */
interface RequestParts {
  readonly method?: string;
  /** Header lines, each with its line break. */
  readonly fields?: string;
}

/** Returns a request as it is sent. */
export function requestText(
  path: string,
  session: Session,
  body: string,
  { method = "POST", fields = "" }: RequestParts = {},
): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "Host: x",
    "Accept: application/json, text/event-stream",
    "Content-Type: application/json",
    ...Object.entries(session).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
  ];
  return `${lines.join("\r\n")}\r\n${fields}\r\n${body}`;
}

/** Opens a session on this thread. */
export async function sessionOf(
  url: string,
  thread: string,
  headers: Session = {},
): Promise<Session> {
  for (;;) {
    const session = await openSession(url, headers);
    if (threadOf(session["mcp-session-id"]) === thread) return session;
    await send(url, { method: "DELETE", headers: session });
  }
}

/** Connects to this thread; the id of a session that is opened over the connection shows which one it is. */
export async function connectionTo(url: string, thread: string): Promise<RawClient> {
  const { port, pathname } = new URL(url);
  for (;;) {
    const client = new RawClient(Number(port));
    client.send(requestText(pathname, {}, JSON.stringify(initialize)));
    await client.receives(/\r\n\r\n.*\}/s);
    const id = /^mcp-session-id: (\S+)/im.exec(client.received)?.[1] ?? "";
    await send(url, { method: "DELETE", headers: { "mcp-session-id": id } });
    client.received = "";
    if (threadOf(id) === thread) return client;
    client.socket.destroy();
  }
}

/** Returns the thread index in a session id. */
export function threadOf(session: string | undefined): string {
  return session?.split(".").at(-1) ?? "";
}

/** Returns the statuses of a request in this session over many connections. */
export async function statuses(url: string, session: Session): Promise<ReadonlySet<number>> {
  const sent = many.map((id) => post(url, { jsonrpc: "2.0", id, method: "ping" }, session));
  return new Set((await Promise.all(sent)).map(({ status }) => status));
}
