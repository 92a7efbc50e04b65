import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Received } from "./scripted.ts";

/** Keys as AWS gives them out. */
export interface TestKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Returns the Authorization header that AWS's own library computes for a request. */
export async function expectedSignature(
  { method, url, headers, body }: Received,
  credentials: TestKeys,
  scope: { readonly region: string; readonly service: string },
): Promise<string | undefined> {
  const { host = "", "content-type": type, "x-amz-date": date } = headers;
  const { pathname, searchParams } = new URL(url, "http://host");
  const query: Record<string, string[]> = {};
  for (const [name, value] of searchParams) query[name] = [...(query[name] ?? []), value];
  const signer = new SignatureV4({ ...scope, credentials, sha256: Sha256, applyChecksum: false });
  const signed = await signer.sign(
    {
      method,
      protocol: "http:",
      hostname: host,
      path: pathname,
      query,
      headers: { host, ...(type === undefined ? {} : { "content-type": type }) },
      body,
    },
    { signingDate: dateOf(String(date)) },
  );
  return signed.headers.authorization;
}

/** `20261122T055500Z` */
function dateOf(text: string): Date {
  return new Date(text.replace(/^(....)(..)(..T..)(..)(..Z)$/, "$1-$2-$3:$4:$5"));
}

/** SHA-256 as that library asks for it. */
class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === "string") return Buffer.from(data);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
