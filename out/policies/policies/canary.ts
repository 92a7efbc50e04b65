import { definePolicy } from "gwc/policy";

/** Sends a share of users to the new version, always the same ones. */
export default definePolicy({
  options: { share: { type: "number", minimum: 0, maximum: 100, required: true } },
  request(request, { share }) {
    const user = request.headers.get("x-user") ?? request.clientAddress;
    const isChosen = hash(user) % 100 < share;
    request.headers.set("x-version", isChosen ? "new" : "stable");
  },
});

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}
