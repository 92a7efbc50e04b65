import { createServer, type Server } from "node:http";

/** A page for machines: its status, and its text. */
export interface ServicePage {
  readonly status: number;
  readonly text: string;
}

/** Serves pages by their paths on a port of every address; resolves with the server, rejects when it can't. */
export function openPages(
  port: number,
  pages: Readonly<Record<string, () => ServicePage>>,
): Promise<Server> {
  const server = createServer((request, response) => {
    const page = Object.hasOwn(pages, request.url ?? "") ? pages[request.url ?? ""] : undefined;
    const { status, text } = page?.() ?? { status: 404, text: "not found\n" };
    response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(text);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, () => resolve(server));
  });
}
