import { crc32 } from "node:zlib";

/** One message of `application/vnd.amazon.eventstream`, as Bedrock sends it. */
export function awsMessage(headers: Readonly<Record<string, string>>, payload: object): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        size,
        Buffer.from(value),
      ]);
    }),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, body]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, sum]);
}

/** An event of ConverseStream. */
export function awsEvent(type: string, payload: object): Buffer {
  return awsMessage(
    { ":message-type": "event", ":event-type": type, ":content-type": "application/json" },
    payload,
  );
}

/** An exception in its place. */
export function awsException(type: string, message: string): Buffer {
  return awsMessage({ ":message-type": "exception", ":exception-type": type }, { message });
}
