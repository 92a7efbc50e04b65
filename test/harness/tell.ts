import type { RequestListener } from "node:http";
import type { TLSSocket } from "node:tls";

/** An upstream that responds with what it saw of a request and its connection. */
export const tell: RequestListener = (request, response) => {
  const socket = request.socket as TLSSocket;
  const { host, authorization, cookie } = request.headers;
  request.resume();
  response.end(
    JSON.stringify({
      version: request.httpVersion,
      host,
      authorization,
      cookie,
      sni: socket.servername,
      client: socket.encrypted ? socket.getPeerCertificate().subject?.CN : undefined,
    }),
  );
};
