import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Returns the head of the response that changes to a protocol, WebSocket unless another one is given (RFC 6455 4.2.2). */
export function upgradeResponse(
  request: IncomingMessage,
  protocol = "websocket",
  fields: readonly string[] = [],
): string {
  const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash("sha1").update(key).digest("base64");
  const head = [
    "HTTP/1.1 101 Switching Protocols",
    "Connection: Upgrade",
    `Upgrade: ${protocol}`,
    ...fields,
    `Sec-WebSocket-Accept: ${accept}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n`;
}

/** Returns a short masked frame of a client as one of the server (RFC 6455 5.2), also a close frame. */
export function echoFrame(frame: Buffer): Buffer {
  const length = (frame[1] ?? 0) & 0x7f;
  const mask = frame.subarray(2, 6);
  const text = frame.subarray(6, 6 + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
  return Buffer.concat([Buffer.from([frame[0] ?? 0, length]), text]);
}
