// Built-in policies on the public interface of custom ones: a test compares decisions, the bench compares speed (decision 030).

/** `csrf` on the public interface. */
export const CSRF_POLICY = `import { definePolicy } from "gwc/policy";

const SAFE = ["GET", "HEAD", "OPTIONS"];

export default definePolicy({
  options: { additionalOrigins: { type: "strings", default: [] } },
  request(request, { additionalOrigins }) {
    const site = request.headers.get("sec-fetch-site");
    const origin = request.headers.get("origin");
    if (SAFE.includes(request.method) || site === "same-origin" || site === "none") return;
    if (origin === null && site === null) return;
    if (origin !== null && additionalOrigins.includes(origin)) return;
    if (origin !== null && site === null && isOwn(origin, request.host)) return;
    return request.refuse(403, "CSRF validation failed");
  },
});

function isOwn(origin: string, host: string): boolean {
  const start = /^[a-z][a-z0-9+.-]*:\\/\\//.exec(origin)?.[0].length;
  if (start === undefined) return false;
  const authority = origin.slice(start).toLowerCase();
  return authority === host || authority + (origin.startsWith("https:") ? ":443" : ":80") === host;
}
`;

/** `requestHeaderModifier` on the public interface, for one header each. */
export const HEADERS_POLICY = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: {
    name: { type: "string", required: true },
    value: { type: "string", required: true },
    remove: { type: "string", required: true },
  },
  request({ headers }, { name, value, remove }) {
    headers.set(name, value);
    headers.delete(remove);
  },
});
`;
