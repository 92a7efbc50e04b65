import { createServer, type RequestListener } from "node:http";
import { listen } from "./listen.ts";

/** The URL of a real HTTP server on a free port; it is gone at the end of the test. */
export async function startUpstream(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}`;
}
