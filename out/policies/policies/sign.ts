import { definePolicy } from "gwc/policy";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

/** Signs the method, the path with its query, and the body of a request with HMAC-SHA256. */
export default definePolicy({
  options: { key: { type: "string", required: true, secret: true } },
  async requestBody(body, { key }, request) {
    const secret = new TextEncoder().encode(key);
    const imported = await crypto.subtle.importKey("raw", secret, ALGORITHM, false, ["sign"]);
    const head = new TextEncoder().encode(`${request.method} ${request.url}\n`);
    const signature = await crypto.subtle.sign(
      "HMAC",
      imported,
      new Uint8Array([...head, ...body]),
    );
    request.headers.set("x-signature", btoa(String.fromCharCode(...new Uint8Array(signature))));
  },
});
